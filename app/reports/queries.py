"""Read reports."""

import uuid
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.core.database.pages import PagedTable
from app.interactions.feed import Feed
from app.interactions.sql import INTERACTION_COLUMNS, JOIN_INTERACTION

REPORTS = Feed("reports", outcome="impact", note="summary")


class ReportItem(NamedTuple):
    """A report, and what it is about."""

    id: uuid.UUID
    interaction_id: uuid.UUID
    summary: str
    impact: str | None
    confidence: float | None
    findings: list[dict[str, Any]]
    workaround: dict[str, Any] | None
    operation: str
    surface: str
    created_at: datetime

    @property
    def source(self) -> str:
        """The kind of credential that sent the report: always a capability."""
        return "capability"


REPORT_PAGES = PagedTable(
    "reports",
    ReportItem,
    {name: INTERACTION_COLUMNS.get(name, f"f.{name}") for name in ReportItem._fields},
    filters={"impact": "f.impact", **INTERACTION_COLUMNS},
    joins=JOIN_INTERACTION,
)

_FIND_INTERACTION_ID = text("SELECT interaction_id FROM reports WHERE environment_id = :environment_id AND id = :id")


def find_report(environment_id: uuid.UUID, report_id: uuid.UUID, since: datetime) -> ReportItem | None:
    """Return a report by its id that is no older than `since`, or None."""
    values = {"environment_id": environment_id, "id": report_id}
    interaction_id = session().scalar(_FIND_INTERACTION_ID, values)
    return REPORT_PAGES.find(environment_id, interaction_id, since) if interaction_id else None
