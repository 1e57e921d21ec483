"""HTTP endpoints of telemetry."""

from app.core.http.blueprint import Blueprint
from app.core.http.body import BATCH_BODY_BYTES
from app.telemetry import service
from app.telemetry.schemas import BatchReceiptSchema, TelemetryBatch, TelemetryBatchSchema
from app.telemetry.service import Receipt
from app.tokens.guards import current_environment

blp = Blueprint("telemetry", __name__, description="Interactions of the product, sent by its backend.")


@blp.post("/batches", operation_id="sendTelemetry")
@blp.arguments(TelemetryBatchSchema, max_bytes=BATCH_BODY_BYTES, has_unique_keys=False)
@blp.response(202, BatchReceiptSchema, errors=(403,))
def accept_batch(batch: TelemetryBatch) -> Receipt:
    """Accept a telemetry batch.

    All events are accepted or none. Once answered the batch cannot be lost; it is visible within seconds.
    """
    return service.accept_batch(current_environment(), batch)
