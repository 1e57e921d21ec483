"""HTTP endpoints of telemetry."""

from flask import request

from app.core.errors import ApiError
from app.core.http.blueprint import Blueprint
from app.core.http.body import BATCH_BODY_BYTES, received_body
from app.ledger import refusals
from app.ledger.rules import Source, read_headers
from app.telemetry import service
from app.telemetry.schemas import BatchReceiptSchema, TelemetryBatch, TelemetryBatchSchema
from app.telemetry.service import Receipt
from app.tokens.guards import current_environment, find_environment

blp = Blueprint("telemetry", __name__, description="Interactions of the product, sent by its backend.")


@blp.post("/batches", operation_id="sendTelemetry")
@blp.arguments(TelemetryBatchSchema, max_bytes=BATCH_BODY_BYTES, has_unique_keys=False)
@blp.response(202, BatchReceiptSchema, errors=(403,))
def accept_batch(batch: TelemetryBatch) -> Receipt:
    """Accept a telemetry batch.

    All events are accepted or none. Once answered the batch cannot be lost; it is visible within seconds.
    """
    return service.accept_batch(current_environment(), batch, read_headers(request.headers))


@blp.on_error
def count_refusal(error: ApiError) -> dict[str, str]:
    """Count the events of a refused batch."""
    headers = read_headers(request.headers)
    return refusals.count_refusal(find_environment(), Source.TELEMETRY, headers, error, received_body())
