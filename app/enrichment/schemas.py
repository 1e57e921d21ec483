"""The wire shapes of questions, requests, answers and choices."""

from datetime import datetime

from marshmallow import fields

from app.core.fields import Address, Choice, Flag, Identifier, Instant, Integer, Number, Text
from app.core.schema import Many, One, Schema, Shape
from app.customers.rules import CHOICES, LEVELS, PURPOSES
from app.enrichment.rules import (
    KEY_PATTERN,
    LONGEST_KEY,
    LONGEST_LABEL,
    LONGEST_TYPE,
    LONGEST_VALUE,
    MOST_DEFINITIONS,
    MOST_FIELD_KEYS,
    MOST_ITEMS,
    MOST_OPERATIONS,
    MOST_VALUES,
    PROVENANCES,
    SHORTEST_LABEL,
    STATES,
    STATUSES,
    SURFACES,
    TYPE_PATTERN,
    VALUE_PATTERN,
)
from app.interactions.rules import (
    LONGEST_HINT,
    LONGEST_OPERATION,
    LONGEST_REFERENCE,
    OPERATION_PATTERN,
    REFERENCE_PATTERN,
)

ORIGIN_PATTERN = r"^https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$"


class Definition(Shape, frozen=True):
    """A question as a product writes it."""

    label: str
    type: str
    allowed_values: list[str]
    targeted_advertising_safe: bool = False
    operations: list[str] | None = None
    enabled: bool = True


class DefinitionSchema(Schema):
    """A question of a product's own; `operations` null or left out: it may be asked anywhere."""

    loads_as = Definition

    label = Text(min_length=SHORTEST_LABEL, max_length=LONGEST_LABEL, normalized=True, required=True)
    type = Text(max_length=LONGEST_TYPE, pattern=TYPE_PATTERN, required=True)
    allowed_values = Many(
        Text(max_length=LONGEST_VALUE, pattern=VALUE_PATTERN), min_length=1, max_length=MOST_VALUES, required=True
    )
    targeted_advertising_safe = Flag(load_default=False)
    operations = Many(
        Text(max_length=LONGEST_OPERATION, pattern=OPERATION_PATTERN),
        min_length=1,
        max_length=MOST_OPERATIONS,
        is_nullable=True,
    )
    enabled = Flag(load_default=True)


class StoredDefinitionSchema(Schema):
    """A question as it is stored."""

    key = Text(max_length=LONGEST_KEY, pattern=KEY_PATTERN, required=True)
    label = fields.String(required=True)
    type = fields.String(required=True)
    allowed_values = fields.List(fields.String(), required=True)
    targeted_advertising_safe = Flag(required=True)
    operations = fields.List(fields.String(), required=True, allow_none=True)
    enabled = Flag(required=True)
    created_at = Instant(required=True)
    updated_at = Instant(required=True)


class DefinitionsSchema(Schema):
    """A product's own questions by key, and the built-in ones, which count where it has none that is enabled."""

    fields_ = Many(StoredDefinitionSchema(), max_length=MOST_DEFINITIONS, required=True)
    legacy_catalog_active = Flag(required=True)
    default_catalog = fields.List(fields.Dict(), required=True)


class Observation(Shape, frozen=True):
    """What the product's server saw of the call; nothing else of it may be told."""

    client_ip: str | None = None
    method: str | None = None
    user_agent: str | None = None
    accept_language: str | None = None
    referrer_origin: str | None = None
    sec_ch_ua_platform: str | None = None
    sec_ch_ua_mobile: str | None = None


class ObservationSchema(Schema):
    """The closed list of what an adapter may tell of a call."""

    loads_as = Observation

    client_ip = Address()
    method = Text(max_length=16, pattern="^[A-Za-z]+$")
    user_agent = Text(max_length=512)
    accept_language = Text(max_length=256)
    referrer_origin = Text(max_length=300, pattern=ORIGIN_PATTERN)
    sec_ch_ua_platform = Text(max_length=80)
    sec_ch_ua_mobile = Choice(("?0", "?1"))


class NewRequest(Shape, frozen=True):
    """What a company asks for."""

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
    return Text(max_length=LONGEST_REFERENCE, pattern=REFERENCE_PATTERN)


class NewRequestSchema(Schema):
    """A request for one interaction's context."""

    loads_as = NewRequest

    interaction_id = Identifier(required=True)
    operation = Text(max_length=LONGEST_OPERATION, pattern=OPERATION_PATTERN, required=True)
    surface = Choice(SURFACES, required=True)
    purpose = Choice(PURPOSES, required=True)
    remember = Flag(required=True)
    status_code = Integer(minimum=100, maximum=599)
    duration_ms = Number(minimum=0)
    session_ref = reference()
    runtime_hint = Text(max_length=LONGEST_HINT)
    request_observation = One(ObservationSchema())
    account_ref = reference()
    user_ref = reference()
    anonymous_ref = reference()
    field_keys = Many(Text(max_length=LONGEST_KEY, pattern=KEY_PATTERN), min_length=1, max_length=MOST_FIELD_KEYS)


class RequestSchema(Schema):
    """The currently allowed next action; `submit` is there while an answer is welcome."""

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
    constraints = fields.Dict(required=True)
    consent = fields.Dict(required=True, allow_none=True)
    submit = fields.Dict(required=True, allow_none=True)


class Item(Shape, frozen=True):
    """One answered question."""

    key: str
    type: str
    value: str
    provenance: str
    confidence: float | None = None
    remember: bool = False
    expires_at: datetime | None = None


class Answer(Shape, frozen=True):
    """What an agent answers."""

    status: str
    items: list[Item] = []


class ItemSchema(Schema):
    """One answered question, in the catalog's words."""

    loads_as = Item

    key = Text(max_length=LONGEST_KEY, required=True)
    type = Text(max_length=LONGEST_TYPE, required=True)
    value = Text(max_length=LONGEST_VALUE, required=True)
    provenance = Choice(PROVENANCES, required=True)
    confidence = Number(minimum=0, maximum=1)
    remember = Flag(load_default=False)
    expires_at = Instant()


class AnswerSchema(Schema):
    """An answer: items only with the status `answered`."""

    loads_as = Answer

    status = Choice(STATUSES, required=True)
    items = Many(ItemSchema(), max_length=MOST_ITEMS, load_default=list)


class ContextItemSchema(Schema):
    """One thing that is known."""

    signal_id = fields.UUID(required=True)
    key = fields.String(required=True)
    type = fields.String(required=True, metadata={"description": "The category as the product wrote it."})
    value = fields.String(required=True)
    summary = fields.String(required=True)
    provenance = Choice(PROVENANCES, required=True)
    confidence = fields.Float(required=True, allow_none=True)
    allowed_uses = fields.List(fields.String(metadata={"enum": list(PURPOSES)}), required=True)
    remembered = Flag(required=True)
    expires_at = Instant(required=True)


class AcceptedAnswerSchema(Schema):
    """What became of an answer; a retry gets the same."""

    accepted = Flag(required=True)
    request_id = fields.UUID(required=True)
    interaction_id = Identifier(required=True)
    state = Choice(STATES, required=True)
    signals = Many(ContextItemSchema(), max_length=MOST_ITEMS, required=True)


class ContextChoice(Shape, frozen=True):
    """What the user said about being known."""

    decision: str
    remember: bool | None = None


class ContextChoiceSchema(Schema):
    """The user's explicit choice; `remember` may only be narrowed."""

    loads_as = ContextChoice

    decision = Choice(CHOICES, required=True)
    remember = Flag()


class ChosenSchema(Schema):
    """What stands after a choice."""

    request_id = fields.UUID(required=True)
    state = Choice(STATES, required=True)
    changed = Flag(required=True)
    stage_instruction = fields.String(required=True)
    answer_instruction = fields.String(required=True, allow_none=True)
    submit = fields.Dict(required=True, allow_none=True)
