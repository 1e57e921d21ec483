"""Read reports."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.interactions.feed import Feed
from app.interactions.queries import InteractionKey

REPORTS = Feed("reports", outcome="impact", note="summary")

_LIST_REPORTS = text("""
    SELECT r.environment_id, r.interaction_id, r.id, r.summary, r.impact, r.confidence, r.findings, r.workaround,
           r.created_at
    FROM unnest(CAST(:environments AS uuid[]), CAST(:interactions AS uuid[])) AS key (environment_id, interaction_id)
    JOIN reports r ON r.environment_id = key.environment_id AND r.interaction_id = key.interaction_id
""")


class ReportRow(NamedTuple):
    """A report with its environment."""

    environment_id: uuid.UUID
    interaction_id: uuid.UUID
    id: uuid.UUID
    summary: str
    impact: str | None
    confidence: float | None
    findings: list[dict[str, Any]]
    workaround: dict[str, Any] | None
    created_at: datetime


def list_reports(keys: Sequence[InteractionKey]) -> dict[InteractionKey, ReportRow]:
    """Return the reports that are stored, by the keys of their interactions."""
    values = {"environments": [environment for environment, _ in keys], "interactions": [id_ for _, id_ in keys]}
    rows = [ReportRow(*row) for row in session().execute(_LIST_REPORTS, values)]
    return {(row.environment_id, row.interaction_id): row for row in rows}
