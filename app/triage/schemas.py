"""marshmallow schemas of feedback with its triage."""

from marshmallow import fields

from app.core.wire.fields import Choice, Identifier, Instant
from app.core.wire.schemas import Schema
from app.reports.schemas import StoredFindingSchema
from app.triage.rules import KINDS, STATES


class FeedbackItemSchema(Schema):
    """A review or report; a report's note is its summary."""

    id = Identifier(required=True)
    interaction_id = Identifier(required=True)
    kind = Choice(KINDS, required=True)
    outcome = fields.String(required=True, allow_none=True)
    impact = fields.String(required=True, allow_none=True)
    note = fields.String(required=True)
    findings = fields.List(fields.Nested(StoredFindingSchema), required=True, allow_none=True)
    operation = fields.String(required=True)
    surface = fields.String(required=True)
    triage = Choice(STATES, required=True)
    assignee_id = fields.UUID(required=True, allow_none=True)
    created_at = Instant(required=True)
