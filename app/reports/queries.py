"""Read reports."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.core.database.pages import PagedTable
from app.interactions.feed import Feed
from app.interactions.queries import InteractionKey
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


class FindingGroup(NamedTuple):
    """What several reports have found of one kind and topic."""

    kind: str
    topic: str
    reports: int
    blocking: int
    major: int
    newest_at: datetime


class FindingSummary(NamedTuple):
    """The groups of findings, those of most reports first, and how many reports were looked at."""

    groups: list[FindingGroup]
    report_count: int


MAX_SUMMARIZED_REPORTS = 5_000
"""How many reports are grouped, the newest; some fifty milliseconds."""
MAX_GROUPS = 200

_GROUP_FINDINGS = text("""
    WITH newest AS MATERIALIZED (
        SELECT interaction_id, findings, created_at FROM reports
        WHERE environment_id = :environment_id AND created_at >= :since
        ORDER BY created_at DESC LIMIT :max_reports
    ), groups AS (
        SELECT finding ->> 'kind' AS kind, finding ->> 'topic' AS topic, count(DISTINCT interaction_id) AS reports,
               count(*) FILTER (WHERE finding ->> 'severity' = 'blocking') AS blocking,
               count(*) FILTER (WHERE finding ->> 'severity' = 'major') AS major, max(created_at) AS newest_at
        FROM newest CROSS JOIN LATERAL jsonb_array_elements(findings) AS finding
        GROUP BY 1, 2 ORDER BY reports DESC, newest_at DESC, kind, topic LIMIT :max_groups
    )
    SELECT (SELECT count(*) FROM newest), groups.* FROM (SELECT) AS always LEFT JOIN groups ON true
    ORDER BY reports DESC, newest_at DESC, kind, topic
""")


def summarize_findings(environment_id: uuid.UUID, since: datetime) -> FindingSummary:
    """Return the findings of the newest reports by kind and topic."""
    limits = {"max_reports": MAX_SUMMARIZED_REPORTS, "max_groups": MAX_GROUPS}
    rows = session().execute(_GROUP_FINDINGS, {"environment_id": environment_id, "since": since, **limits}).all()
    return FindingSummary([FindingGroup(*row[1:]) for row in rows if row[1] is not None], rows[0][0])


_COUNT_BEFORE = text("""
    SELECT count(*) FROM (
        SELECT 1 FROM reports WHERE environment_id = :environment_id AND created_at < :before LIMIT :limit
    ) counted
""")


def count_before(environment_id: uuid.UUID, before: datetime, limit: int) -> int:
    """Return how many reports arrived before an instant; `limit` where there are as many or more."""
    values = {"environment_id": environment_id, "before": before, "limit": limit}
    count: int = session().scalars(_COUNT_BEFORE, values).one()
    return count
