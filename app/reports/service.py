"""Record reports."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import orjson

from app.consent import service as consent
from app.core import clock
from app.core.database import PreparedStatement
from app.core.jobs import Job, notify
from app.core.limits.limiter import limiter
from app.interactions.sql import promotion_outbox
from app.products.key_cache import CallerEnvironment
from app.reports.schemas import SubmittedReport
from app.screening.service import reject_private
from app.tokens.capability import Capability
from config.limits import LimitName, QuotaName

CHARACTERS_OF_A_REQUEST = 500
"""A report counts as one more request of its capability for each so many characters, the longest note of a review."""

# The report, and the outbox row that promotes its interaction, are stored together or not at all.
RECORD_REPORT = PreparedStatement(
    "record_report",
    f"""
    WITH recorded AS (
        INSERT INTO reports
            (environment_id, interaction_id, id, summary, impact, confidence, findings, workaround, created_at)
        VALUES (:environment_id, :interaction_id, :id, :summary, :impact, :confidence::double precision,
            :findings::jsonb, :workaround::jsonb, :created_at::timestamptz)
        ON CONFLICT (environment_id, interaction_id) DO NOTHING
        RETURNING environment_id, interaction_id, created_at
    ), outbox AS ({promotion_outbox("recorded", "report")})
    SELECT 1 FROM recorded
    """,
)


class StoredReport(NamedTuple):
    """A report as it is stored."""

    id: uuid.UUID
    interaction_id: uuid.UUID
    summary: str
    impact: str | None
    confidence: float | None
    findings: list[dict[str, Any]]
    workaround: dict[str, Any] | None
    created_at: datetime

    @property
    def source(self) -> str:
        """The kind of credential that sent the report: always a capability."""
        return "capability"


FIND_REPORT = PreparedStatement(
    "find_report",
    """
    SELECT id, interaction_id, summary, impact, confidence, findings, workaround, created_at FROM reports
    WHERE environment_id = :environment_id AND interaction_id = :interaction_id
    """,
    row=StoredReport,
)


@dataclass(frozen=True, slots=True)
class AcceptedReport:
    """The answer to a submission."""

    interaction_id: uuid.UUID
    report: StoredReport
    accepted: bool = True


@dataclass(frozen=True, slots=True)
class ReportPreview:
    """What a submission would come to."""

    interaction_id: uuid.UUID
    would_be_stored: bool
    report: StoredReport


def record(environment: CallerEnvironment, capability: Capability, submission: SubmittedReport) -> AcceptedReport:
    """Store a report and notify the promotion of its interaction; the first report stays."""
    report = _new_report(environment, capability, submission)
    details = {
        "findings": orjson.dumps(report.findings).decode(),
        "workaround": None if report.workaround is None else orjson.dumps(report.workaround).decode(),
    }
    with limiter().use_quota(QuotaName.REPORTS, environment.id):
        is_first = RECORD_REPORT.first(environment_id=environment.id, **{**report._asdict(), **details})
    if is_first:
        notify(Job.PROMOTE_INTERACTIONS)
    else:
        limiter().return_quota(QuotaName.REPORTS, environment.id)
    # Read back also when it is new, so that the first answer and every later one are made of the same bytes.
    return find_accepted_report(environment, capability) or record(environment, capability, submission)


def preview(environment: CallerEnvironment, capability: Capability, submission: SubmittedReport) -> ReportPreview:
    """Return what a submission would come to, and store nothing."""
    report = _new_report(environment, capability, submission)
    accepted_report = find_accepted_report(environment, capability)
    return ReportPreview(
        capability.interaction_id, accepted_report is None, accepted_report.report if accepted_report else report
    )


def _new_report(environment: CallerEnvironment, capability: Capability, submission: SubmittedReport) -> StoredReport:
    """Return the report of a submission that may be stored, or raise."""
    texts = list(_texts(submission))
    units = sum(len(text) for _, text in texts) // CHARACTERS_OF_A_REQUEST
    limiter().count_units(LimitName.CAPABILITY, (environment.id, capability.interaction_id), units)
    reject_private(texts)
    consent.require_approval(environment, capability)
    return StoredReport(
        id=uuid.uuid4(),
        interaction_id=capability.interaction_id,
        summary=submission.summary,
        impact=submission.impact,
        confidence=submission.confidence,
        findings=msgspec.to_builtins(submission.findings),
        workaround=msgspec.to_builtins(submission.workaround),
        created_at=clock.now(),
    )


def find_accepted_report(environment: CallerEnvironment, capability: Capability) -> AcceptedReport | None:
    """Return the answer with the stored report of an interaction, or None."""
    report = FIND_REPORT.first(environment_id=environment.id, interaction_id=capability.interaction_id)
    return AcceptedReport(capability.interaction_id, report) if report else None


def _texts(submission: SubmittedReport) -> Iterator[tuple[str, str]]:
    """Return every text that somebody wrote, with its pointer."""
    yield "/summary", submission.summary
    for index, finding in enumerate(submission.findings):
        yield f"/findings/{index}/topic", finding.topic
        yield f"/findings/{index}/detail", finding.detail
    if submission.workaround and submission.workaround.detail is not None:
        yield "/workaround/detail", submission.workaround.detail
