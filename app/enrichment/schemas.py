"""marshmallow schemas of requests, answers and choices."""

from datetime import datetime

from marshmallow import fields

from app.catalog.rules import KEY_PATTERN, MAX_KEY_LENGTH, MAX_TYPE_LENGTH, MAX_VALUE_LENGTH
from app.core.wire.fields import Address, Choice, Flag, Identifier, Instant, Integer, Number, Text
from app.core.wire.schemas import List, Nested, Payload, Schema
from app.customers.rules import CHOICES, LEVELS, PURPOSES
from app.enrichment.rules import MAX_FIELD_KEYS, MAX_ITEMS, PROVENANCES, STATES, STATUSES, SURFACES
from app.enrichment.view_schemas import (
    CONTEXT_ITEM_EXAMPLE,
    AnswerActionSchema,
    ChoiceActionSchema,
    ConstraintsSchema,
    ContextItemSchema,
)
from app.interactions.rules import (
    MAX_HINT_LENGTH,
    MAX_OPERATION_LENGTH,
    MAX_REFERENCE_LENGTH,
    OPERATION_PATTERN,
    REFERENCE_PATTERN,
)

ORIGIN_PATTERN = r"^https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$"


class Observation(Payload, frozen=True):
    """What the product's server observed of the call; stored in a coarse form only."""

    client_ip: str | None = None
    method: str | None = None
    user_agent: str | None = None
    accept_language: str | None = None
    referrer_origin: str | None = None
    sec_ch_ua_platform: str | None = None
    sec_ch_ua_mobile: str | None = None


class ObservationSchema(Schema):
    """What an adapter may send of a call; nothing else is accepted."""

    loads_into = Observation

    client_ip = Address()
    method = Text(max_length=16, pattern="^[A-Za-z]+$")
    user_agent = Text(max_length=512)
    accept_language = Text(max_length=256)
    referrer_origin = Text(max_length=300, pattern=ORIGIN_PATTERN)
    sec_ch_ua_platform = Text(max_length=80)
    sec_ch_ua_mobile = Choice(("?0", "?1"))


class NewRequest(Payload, frozen=True):
    """A request for one interaction's context."""

    interaction_id: str
    operation: str
    surface: str
    purpose: str
    remember: bool
    status_code: int | None = None
    duration_ms: float | None = None
    session_ref: str | None = None
    runtime_hint: str | None = None
    request_observation: Observation | None = None
    account_ref: str | None = None
    user_ref: str | None = None
    anonymous_ref: str | None = None
    field_keys: list[str] | None = None


def reference() -> Text:
    """Return the field of an opaque reference."""
    return Text(max_length=MAX_REFERENCE_LENGTH, pattern=REFERENCE_PATTERN)


class NewRequestSchema(Schema):
    """A request for one interaction's context."""

    loads_into = NewRequest
    example = {
        "interactionId": "5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10",
        "operation": "/shoes",
        "surface": "http_json",
        "purpose": "product_personalization",
        "remember": True,
        "userRef": "user_17",
    }

    interaction_id = Identifier(required=True)
    operation = Text(max_length=MAX_OPERATION_LENGTH, pattern=OPERATION_PATTERN, required=True)
    surface = Choice(SURFACES, required=True)
    purpose = Choice(PURPOSES, required=True)
    remember = Flag(required=True)
    status_code = Integer(minimum=100, maximum=599)
    duration_ms = Number(minimum=0)
    session_ref = reference()
    runtime_hint = Text(max_length=MAX_HINT_LENGTH)
    request_observation = Nested(ObservationSchema)
    account_ref = reference()
    user_ref = reference()
    anonymous_ref = reference()
    field_keys = List(Text(max_length=MAX_KEY_LENGTH, pattern=KEY_PATTERN), min_length=1, max_length=MAX_FIELD_KEYS)


class RequestSchema(Schema):
    """The currently allowed next action; `submit` is null unless it is open."""

    request_id = fields.UUID(required=True, allow_none=True)
    interaction_id = Identifier(required=True)
    state = Choice(STATES, required=True)
    purpose = Choice(PURPOSES, required=True)
    surface = Choice(SURFACES, required=True)
    identity_level = Choice(LEVELS, required=True)
    stage_instruction = fields.String(required=True)
    answer_instruction = fields.String(required=True, allow_none=True)
    question = fields.String(required=True, allow_none=True)
    expires_at = fields.AwareDateTime(required=True, allow_none=True)
    constraints = fields.Nested(ConstraintsSchema, required=True)
    consent = fields.Nested(ChoiceActionSchema, required=True, allow_none=True)
    submit = fields.Nested(AnswerActionSchema, required=True, allow_none=True)


class Item(Payload, frozen=True):
    """One answered field."""

    key: str
    type: str
    value: str
    provenance: str
    confidence: float | None = None
    remember: bool = False
    expires_at: datetime | None = None


class Answer(Payload, frozen=True):
    """An agent's answer."""

    status: str
    items: list[Item] = []


class ItemSchema(Schema):
    """One answered field, in the catalog's words."""

    loads_into = Item

    key = Text(max_length=MAX_KEY_LENGTH, required=True)
    type = Text(max_length=MAX_TYPE_LENGTH, required=True)
    value = Text(max_length=MAX_VALUE_LENGTH, required=True)
    provenance = Choice(PROVENANCES, required=True)
    confidence = Number(minimum=0, maximum=1)
    remember = Flag(load_default=False)
    expires_at = Instant()


class AnswerSchema(Schema):
    """An answer: items only with the status `answered`."""

    loads_into = Answer
    example = {
        "status": "answered",
        "items": [
            {
                "key": "shoes.size",
                "type": "constraint",
                "value": "size_42",
                "provenance": "agent_reports_user_statement",
                "remember": True,
            }
        ],
    }

    status = Choice(STATUSES, required=True)
    items = List(Nested(ItemSchema), max_length=MAX_ITEMS, load_default=list)


class AcceptedAnswerSchema(Schema):
    """The receipt of an answer; a retry gets the same."""

    example = {
        "accepted": True,
        "requestId": "8b9c0d1e-2f30-4152-a637-48596a7b8c9d",
        "interactionId": "5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10",
        "state": "answered",
        "signals": [CONTEXT_ITEM_EXAMPLE],
    }

    accepted = Flag(required=True)
    request_id = fields.UUID(required=True)
    interaction_id = Identifier(required=True)
    state = Choice(STATES, required=True)
    signals = List(Nested(ContextItemSchema), max_length=MAX_ITEMS, required=True)


class ContextChoice(Payload, frozen=True):
    """The user's explicit choice."""

    decision: str
    remember: bool | None = None


class ContextChoiceSchema(Schema):
    """The user's explicit choice; `remember` may only be narrowed."""

    loads_into = ContextChoice
    example = {"decision": "approved", "remember": False}

    decision = Choice(CHOICES, required=True)
    remember = Flag()


class ChoiceResultSchema(Schema):
    """The request after a choice."""

    request_id = fields.UUID(required=True)
    state = Choice(STATES, required=True)
    changed = Flag(required=True)
    stage_instruction = fields.String(required=True)
    answer_instruction = fields.String(required=True, allow_none=True)
    submit = fields.Nested(AnswerActionSchema, required=True, allow_none=True)
