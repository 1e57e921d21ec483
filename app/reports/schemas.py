"""marshmallow schemas of reports."""

from typing import Any

import marshmallow
from marshmallow import fields

from app.core.wire.fields import Choice, Flag, Identifier, Instant, Number, Text, Violation, invalid
from app.core.wire.schemas import List, Nested, Payload, Schema
from app.interactions.rules import SURFACES, UNKNOWN_SURFACE
from app.reports.rules import (
    IMPACTS,
    KINDS,
    MAX_DETAIL_LENGTH,
    MAX_FINDINGS,
    MAX_SUMMARY_LENGTH,
    MAX_TOPIC_LENGTH,
    MIN_DETAIL_LENGTH,
    MIN_SUMMARY_LENGTH,
    SEVERITIES,
    TOPIC_PATTERN,
)


class Finding(Payload, frozen=True):
    """One finding of the agent."""

    kind: str
    topic: str
    detail: str
    severity: str | None = None


class Workaround(Payload, frozen=True):
    """Whether the agent needed a workaround, and which."""

    used: bool
    detail: str | None = None


class SubmittedReport(Payload, frozen=True):
    """What an agent submits."""

    summary: str
    impact: str | None = None
    confidence: float | None = None
    findings: list[Finding] = []
    workaround: Workaround | None = None


class FindingSchema(Schema):
    """One finding."""

    loads_into = Finding

    kind = Choice(KINDS, required=True)
    topic = Text(max_length=MAX_TOPIC_LENGTH, pattern=TOPIC_PATTERN, required=True)
    severity = Choice(SEVERITIES)
    detail = Text(min_length=MIN_DETAIL_LENGTH, max_length=MAX_DETAIL_LENGTH, normalized=True, required=True)


class WorkaroundSchema(Schema):
    """Whether a workaround was used, and then which."""

    loads_into = Workaround

    used = Flag(required=True)
    detail = Text(min_length=MIN_DETAIL_LENGTH, max_length=MAX_DETAIL_LENGTH, normalized=True)

    @marshmallow.validates_schema
    def _require_detail(self, data: dict[str, Any], **_: Any) -> None:
        if data.get("used") and data.get("detail") is None:
            violation = Violation("required", "A workaround that was used needs its detail.")
            raise marshmallow.ValidationError({"detail": invalid(violation).messages})


class ReportSchema(Schema):
    """A report: a summary, and optional findings with an impact, a confidence and a workaround."""

    loads_into = SubmittedReport
    example = {
        "summary": "The search found the right orders, but its second page had to be requested twice.",
        "impact": "helped_with_friction",
        "confidence": 0.9,
        "findings": [
            {
                "kind": "friction",
                "topic": "pagination",
                "severity": "minor",
                "detail": "The second page was empty until it was requested again.",
            }
        ],
        "workaround": {"used": True, "detail": "The request for the second page was repeated."},
    }

    summary = Text(min_length=MIN_SUMMARY_LENGTH, max_length=MAX_SUMMARY_LENGTH, normalized=True, required=True)
    impact = Choice(IMPACTS)
    confidence = Number(minimum=0, maximum=1)
    findings = List(Nested(FindingSchema), max_length=MAX_FINDINGS, load_default=list)
    workaround = Nested(WorkaroundSchema)


class StoredFindingSchema(Schema):
    """A finding as it is stored."""

    kind = Choice(KINDS, required=True)
    topic = Text(max_length=MAX_TOPIC_LENGTH, pattern=TOPIC_PATTERN, required=True)
    detail = Text(min_length=MIN_DETAIL_LENGTH, max_length=MAX_DETAIL_LENGTH, required=True)
    severity = Choice(SEVERITIES)


class StoredWorkaroundSchema(Schema):
    """A workaround as it is stored."""

    used = Flag(required=True)
    detail = Text(min_length=MIN_DETAIL_LENGTH, max_length=MAX_DETAIL_LENGTH)


class StoredReportSchema(Schema):
    """The report as it is stored."""

    id = Identifier(required=True)
    interaction_id = Identifier(required=True)
    summary = Text(max_length=MAX_SUMMARY_LENGTH, required=True)
    impact = fields.String(required=True, allow_none=True, metadata={"enum": [*IMPACTS, None]})
    confidence = fields.Float(required=True, allow_none=True)
    findings = fields.List(fields.Nested(StoredFindingSchema), required=True)
    workaround = fields.Nested(StoredWorkaroundSchema, required=True, allow_none=True)
    source = Choice(("capability",), required=True)
    created_at = Instant(required=True)


class PreviewedReportSchema(StoredReportSchema):
    """What an agent has written of a report."""

    class Meta(StoredReportSchema.Meta):
        """Leave out what only storing brings."""

        exclude = ("id", "interaction_id", "created_at")


class ReportItemSchema(StoredReportSchema):
    """A report, and what it is about; `pending` and `unknown` where telemetry has not told."""

    operation = fields.String(required=True)
    surface = Choice((*SURFACES, UNKNOWN_SURFACE), required=True)


class AcceptedReportSchema(Schema):
    """The same answer for the first and every later submission."""

    example = {
        "accepted": True,
        "interactionId": "5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10",
        "report": {
            "id": "0c6a1f8e-8f0e-4b52-a2c5-6f1de2a4c9d3",
            "interactionId": "5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10",
            "summary": "The search found the right orders, but its second page had to be requested twice.",
            "impact": "helped_with_friction",
            "confidence": 0.9,
            "findings": [
                {
                    "kind": "friction",
                    "topic": "pagination",
                    "detail": "The second page was empty until it was requested again.",
                    "severity": "minor",
                }
            ],
            "workaround": {"used": True, "detail": "The request for the second page was repeated."},
            "source": "capability",
            "createdAt": "2026-01-31T12:00:00Z",
        },
    }

    accepted = Flag(required=True)
    interaction_id = Identifier(required=True)
    report = Nested(StoredReportSchema, required=True)


class ReportPreviewSchema(Schema):
    """What a report would be stored as; `wouldBeStored` is false where an earlier one stays, which `report` is then."""

    example = {
        "interactionId": "5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10",
        "wouldBeStored": True,
        "report": {
            "summary": "The search found the right orders, but its second page had to be requested twice.",
            "impact": "helped_with_friction",
            "confidence": None,
            "findings": [],
            "workaround": None,
            "source": "capability",
        },
    }

    interaction_id = Identifier(required=True)
    would_be_stored = Flag(required=True)
    report = Nested(PreviewedReportSchema, required=True)
