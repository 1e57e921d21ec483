"""marshmallow schemas of what pages export and no endpoint of the API has."""

from marshmallow import fields

from app.accounts.rules import ROLES
from app.core.wire.fields import Choice, Flag, Instant
from app.core.wire.schemas import Schema
from app.summaries.schemas import OperationItemSchema

BUILT_IN, OWN, FORMER = ORIGINS = ("built_in", "own", "former")
"""Whose question it is; a former one is in no catalog any more."""

JOINED, INVITED = TEAM_STATES = ("joined", "invited")


class OperationRowSchema(OperationItemSchema):
    """An operation with everything that its page shows; a figure is null below ten observations."""

    success_low = fields.Float(required=True, allow_none=True)
    success_high = fields.Float(required=True, allow_none=True)
    duration_p50_ms = fields.Float(required=True, allow_none=True)
    duration_p95_ms = fields.Float(required=True, allow_none=True)
    last_failure_on = fields.Date(required=True, allow_none=True)


class FindingGroupSchema(Schema):
    """What several reports have found of one kind and topic."""

    kind = fields.String(required=True)
    topic = fields.String(required=True)
    reports = fields.Integer(required=True)
    blocking = fields.Integer(required=True)
    major = fields.Integer(required=True)
    newest_at = Instant(required=True)


class QuestionSchema(Schema):
    """A question, and how often it was asked and answered in the shown days."""

    key = fields.String(required=True)
    origin = Choice(ORIGINS, required=True)
    state = fields.String(required=True, allow_none=True)
    label = fields.String(required=True, allow_none=True)
    type = fields.String(required=True, allow_none=True)
    allowed_values = fields.List(fields.String(), required=True)
    operations = fields.List(fields.String(), required=True)
    purposes = fields.List(fields.String(), required=True)
    asked = fields.Integer(required=True)
    answered = fields.Integer(required=True)


class CustomerRowSchema(Schema):
    """A customer, and how much is kept of it."""

    customer_id = fields.UUID(required=True, attribute="customer.id")
    created_at = Instant(required=True, attribute="customer.created_at")
    last_seen_at = Instant(required=True, attribute="customer.last_seen_at")
    signals = fields.Integer(required=True)
    has_more_signals = Flag(required=True)
    declined_purposes = fields.List(fields.String(), required=True)


class TeamRowSchema(Schema):
    """A member of a workspace, or an invitation without its link."""

    user_id = fields.UUID(required=True, allow_none=True)
    invitation_id = fields.UUID(required=True, allow_none=True)
    email = fields.String(required=True)
    role = Choice(ROLES, required=True)
    state = Choice(TEAM_STATES, required=True)
    since = Instant(required=True)
    expires_at = Instant(required=True, is_nullable=True)
