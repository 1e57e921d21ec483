"""marshmallow schemas of interactions."""

from marshmallow import fields

from app.core.wire.fields import Choice, Identifier, Instant
from app.core.wire.schemas import Schema
from app.interactions.rules import CLASSIFICATIONS, HINT_SOURCES, METHODS, SESSION_SOURCES, SURFACES, UNKNOWN_SURFACE


def _optional_choice(allowed: tuple[str, ...]) -> fields.String:
    return fields.String(required=True, allow_none=True, metadata={"enum": [*allowed, None]})


class InteractionItemSchema(Schema):
    """An interaction as it is now. What telemetry has not told is null, or `pending` and `unknown`."""

    interaction_id = Identifier(required=True)
    surface = Choice((*SURFACES, UNKNOWN_SURFACE), required=True)
    operation = fields.String(required=True)
    classification = Choice(CLASSIFICATIONS, required=True)
    confirmation_method = _optional_choice(METHODS)
    confirmed_at = Instant(required=True, is_nullable=True)
    received_at = Instant(required=True)
    occurred_at = Instant(required=True, is_nullable=True)
    status_code = fields.Integer(required=True, allow_none=True)
    duration_ms = fields.Float(required=True, allow_none=True)
    customer_ref = fields.String(required=True, allow_none=True)
    runtime_hint = fields.String(required=True, allow_none=True)
    runtime_hint_source = _optional_choice(HINT_SOURCES)
    session_ref = fields.String(required=True, allow_none=True)
    session_source = _optional_choice(SESSION_SOURCES)


class DetailedInteractionSchema(InteractionItemSchema):
    """An interaction with the outcome of its review."""

    outcome = fields.String(required=True, allow_none=True)


class SessionItemSchema(Schema):
    """A session; what the product has not told is null."""

    source = _optional_choice(SESSION_SOURCES)
    ref = fields.String(required=True)
    customer_ref = fields.String(required=True, allow_none=True)
    first_seen_at = Instant(required=True)
    last_seen_at = Instant(required=True)
