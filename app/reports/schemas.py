"""The wire shapes of reports."""

from typing import Any

import marshmallow
from marshmallow import fields

from app.core.fields import Choice, Fault, Flag, Identifier, Instant, Number, Text, refuse
from app.core.schema import Many, One, Schema, Shape
from app.reports.rules import (
    IMPACTS,
    KINDS,
    LONGEST_DETAIL,
    LONGEST_SUMMARY,
    LONGEST_TOPIC,
    MOST_FINDINGS,
    SEVERITIES,
    SHORTEST_DETAIL,
    SHORTEST_SUMMARY,
    TOPIC_PATTERN,
)


class Finding(Shape, frozen=True):
    """One thing that the agent found."""

    kind: str
    topic: str
    detail: str
    severity: str | None = None


class Workaround(Shape, frozen=True):
    """Whether the agent had to find its own way."""

    used: bool
    detail: str | None = None


class SubmittedReport(Shape, frozen=True):
    """What an agent submits."""

    summary: str
    impact: str | None = None
    confidence: float | None = None
    findings: list[Finding] = []
    workaround: Workaround | None = None


class FindingSchema(Schema):
    """One finding."""

    loads_as = Finding

    kind = Choice(KINDS, required=True)
    topic = Text(max_length=LONGEST_TOPIC, pattern=TOPIC_PATTERN, required=True)
    severity = Choice(SEVERITIES)
    detail = Text(min_length=SHORTEST_DETAIL, max_length=LONGEST_DETAIL, normalized=True, required=True)


class WorkaroundSchema(Schema):
    """Whether a workaround was used, and then which."""

    loads_as = Workaround

    used = Flag(required=True)
    detail = Text(min_length=SHORTEST_DETAIL, max_length=LONGEST_DETAIL, normalized=True)

    @marshmallow.validates_schema
    def _tell_what_was_used(self, data: dict[str, Any], **_: Any) -> None:
        if data.get("used") and data.get("detail") is None:
            fault = Fault("required", "A workaround that was used needs its detail.")
            raise marshmallow.ValidationError({"detail": refuse(fault).messages})


class ReportSchema(Schema):
    """A summary, and what the agent can add to it with certainty."""

    loads_as = SubmittedReport

    summary = Text(min_length=SHORTEST_SUMMARY, max_length=LONGEST_SUMMARY, normalized=True, required=True)
    impact = Choice(IMPACTS)
    confidence = Number(minimum=0, maximum=1)
    findings = Many(FindingSchema(), max_length=MOST_FINDINGS, load_default=list)
    workaround = One(WorkaroundSchema())


class StoredReportSchema(Schema):
    """The report as it is stored."""

    id = Identifier(required=True)
    interaction_id = Identifier(required=True)
    summary = Text(max_length=LONGEST_SUMMARY, required=True)
    impact = fields.String(required=True, allow_none=True, metadata={"enum": [*IMPACTS, None]})
    confidence = fields.Float(required=True, allow_none=True)
    findings = fields.List(fields.Dict(), required=True)
    workaround = fields.Dict(required=True, allow_none=True)
    source = Choice(("capability",), required=True)
    created_at = Instant(required=True)


class AcceptedReportSchema(Schema):
    """The same answer for the first and every later submission."""

    accepted = Flag(required=True)
    interaction_id = Identifier(required=True)
    report = One(StoredReportSchema(), required=True)
