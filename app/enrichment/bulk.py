"""Insert requests for context and their answers of past times, as sample data needs them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert, text

from app.core.database import session
from app.core.wire.serialization import dumps
from app.enrichment.models import ClosedRequest, EnrichmentRequest, FieldDay, Signal
from app.interactions.sql import promotion_outbox

_QUEUE_PROMOTIONS = text(
    promotion_outbox(
        "json_to_recordset(CAST(:rows AS json)) AS r "
        "(environment_id uuid, interaction_id uuid, created_at timestamptz)",
        "answer",
    )
)


def insert_requests(
    open_requests: Sequence[dict[str, Any]],
    closed_requests: Sequence[dict[str, Any]],
    answers: Sequence[dict[str, Any]],
) -> None:
    """Insert requests, and queue the promotion of the interactions that have an answer.

    An answer has environment_id, interaction_id and created_at.
    """
    if open_requests:
        session().execute(insert(EnrichmentRequest), open_requests)
    if closed_requests:
        session().execute(insert(ClosedRequest), closed_requests)
    if answers:
        session().execute(_QUEUE_PROMOTIONS, {"rows": dumps(answers).decode()})


def insert_signals(signals: Sequence[dict[str, Any]]) -> None:
    """Insert signals."""
    if signals:
        session().execute(insert(Signal), signals)


def insert_field_days(rows: Sequence[dict[str, Any]]) -> None:
    """Insert the counts that requests leave behind when they are removed, of days that have none."""
    if rows:
        session().execute(insert(FieldDay), rows)
