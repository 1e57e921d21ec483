"""Recording reports."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
import orjson

from app.consent import service as consent
from app.core import clock
from app.core.database import HotStatement
from app.core.jobs import Job, ring
from app.products.known_keys import CallingEnvironment
from app.reports.schemas import SubmittedReport
from app.screening.service import reject_private
from app.tokens.capability import Capability

# The report, and the note from which its interaction is promoted, are stored together or not at all.
_RECORD = HotStatement(
    "record_report",
    ["uuid", "uuid", "uuid", "text", "text", "double precision", "jsonb", "jsonb", "timestamptz"],
    """
    WITH recorded AS (
        INSERT INTO reports
            (environment_id, interaction_id, id, summary, impact, confidence, findings, workaround, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (environment_id, interaction_id) DO NOTHING
        RETURNING environment_id, interaction_id, created_at
    ), noted AS (
        INSERT INTO promotions (environment_id, interaction_id, method, noted_at)
        SELECT environment_id, interaction_id, 'report', created_at FROM recorded
    )
    SELECT 1 FROM recorded
    """,
)

_FIND = HotStatement(
    "find_report",
    ["uuid", "uuid"],
    """
    SELECT id, summary, impact, confidence, findings, workaround, created_at FROM reports
    WHERE environment_id = $1 AND interaction_id = $2
    """,
)


@dataclass(frozen=True, slots=True)
class RecordedReport:
    """A report as it is stored."""

    id: uuid.UUID
    interaction_id: uuid.UUID
    summary: str
    impact: str | None
    confidence: float | None
    findings: list[dict[str, Any]]
    workaround: dict[str, Any] | None
    created_at: datetime
    source: str = "capability"


@dataclass(frozen=True, slots=True)
class AcceptedReport:
    """What the agent is told."""

    interaction_id: uuid.UUID
    report: RecordedReport
    accepted: bool = True


def record(environment: CallingEnvironment, capability: Capability, submitted: SubmittedReport) -> AcceptedReport:
    """Store a report and ring for the promotion of its interaction; the first report stays."""
    reject_private(_texts(submitted))
    consent.require_approval(environment, capability)
    findings, workaround = msgspec.to_builtins(submitted.findings), msgspec.to_builtins(submitted.workaround)
    has_won = _RECORD.run(
        environment.id,
        capability.interaction_id,
        uuid.uuid4(),
        submitted.summary,
        submitted.impact,
        submitted.confidence,
        orjson.dumps(findings).decode(),
        None if workaround is None else orjson.dumps(workaround).decode(),
        clock.now(),
    )
    if has_won:
        ring(Job.PROMOTE_INTERACTIONS)
    # Read back also when it is new, so that the first answer and every later one are made of the same bytes.
    return find_recorded(environment, capability) or record(environment, capability, submitted)


def find_recorded(environment: CallingEnvironment, capability: Capability) -> AcceptedReport | None:
    """Return the stored report of an interaction, if there is one."""
    rows = _FIND.run(environment.id, capability.interaction_id)
    if not rows:
        return None
    report_id, *content = rows[0]
    return AcceptedReport(capability.interaction_id, RecordedReport(report_id, capability.interaction_id, *content))


def _texts(submitted: SubmittedReport) -> Iterator[tuple[str, str]]:
    """Return every text that somebody wrote, with its pointer."""
    yield "/summary", submitted.summary
    for index, finding in enumerate(submitted.findings):
        yield f"/findings/{index}/topic", finding.topic
        yield f"/findings/{index}/detail", finding.detail
    if submitted.workaround and submitted.workaround.detail is not None:
        yield "/workaround/detail", submitted.workaround.detail
