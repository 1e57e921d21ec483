"""HTTP endpoints of evidence."""

import uuid

from flask import request

from app.accounts.guards import current_login
from app.core.errors import ApiError
from app.core.http.blueprint import Blueprint
from app.core.http.body import BATCH_BODY_BYTES, received_body
from app.evidence import queries, service
from app.evidence.queries import Summary
from app.evidence.schemas import (
    EvidenceBatch,
    EvidenceBatchSchema,
    EvidenceReceiptSchema,
    SummaryQuery,
    SummaryQuerySchema,
    SummarySchema,
)
from app.evidence.service import Receipt
from app.ledger import refusals
from app.ledger.rules import Source, read_headers, read_sender
from app.tokens.guards import current_environment, find_environment

blp = Blueprint("evidence", __name__, description="Requests of agents and assistants, sent by the company's exporter.")
summaries = Blueprint("evidence_summaries", __name__, description="Counts of that evidence, for the dashboard.")


@blp.post("/batches", operation_id="sendEvidence")
@blp.arguments(EvidenceBatchSchema, max_bytes=BATCH_BODY_BYTES, has_unique_keys=False)
@blp.response(200, EvidenceReceiptSchema, errors=(403,))
def accept_batch(batch: EvidenceBatch) -> Receipt:
    """Accept an evidence batch.

    All events are stored before the answer or none is. An event is known by its source and id; sending it again changes
    nothing, so a batch may be retried at any time.
    """
    return service.accept_batch(current_environment(), batch, read_sender(request.headers.get("User-Agent", "")))


@blp.on_error
def count_refusal(error: ApiError) -> dict[str, str]:
    """Count the events of a refused batch."""
    headers = read_headers(request.headers)
    return refusals.count_refusal(find_environment(), Source.EVIDENCE, headers, error, received_body())


@summaries.get("/<uuid:product_id>/evidence/http-requests/summary", operation_id="summarizeEvidence")
@summaries.arguments(SummaryQuerySchema, location="query")
@summaries.response(200, SummarySchema, errors=(404,))
def summarize(query: SummaryQuery, product_id: uuid.UUID) -> Summary:
    """Count the evidence of an environment.

    Whole UTC days ending today, no more than the environment keeps; exact at the moment of the answer.
    """
    workspace_id = current_login().workspace_id
    return queries.summarize(workspace_id, product_id, uuid.UUID(query.environment_id), query.days)
