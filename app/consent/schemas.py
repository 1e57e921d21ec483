"""The wire shapes of consent."""

import marshmallow
from marshmallow import fields

from app.consent.rules import DECISIONS, Basis, State
from app.core.wire.fields import Choice, Flag, Instant, Text
from app.core.wire.schemas import List, Payload, Schema
from app.products.rules import Mode

SUBJECT = "^afsub1_[A-Za-z0-9_-]{43}$"
MAX_SUBJECTS = 50


class Decision(Payload, frozen=True):
    """What the user said."""

    decision: str


class DecisionSchema(Schema):
    """What the user said, in one word."""

    loads_into = Decision

    decision = Choice(DECISIONS, required=True)


class DecidedSchema(Schema):
    """The state after a decision."""

    state = Choice([str(state) for state in State], required=True)
    decided_at = fields.AwareDateTime(required=True, allow_none=True)
    changed = Flag(required=True)
    feedback = fields.Dict(
        required=True, allow_none=True, metadata={"description": "The contract to send feedback by."}
    )


class IntrospectionSchema(Schema):
    """The authoritative state of a capability."""

    state = Choice([str(state) for state in State], required=True)
    configured_mode = Choice([str(mode) for mode in Mode], required=True)
    consent_policy = Choice([str(basis) for basis in Basis], required=True)
    product_name = fields.String(required=True)
    canonical_question = fields.String(required=True, allow_none=True)
    expires_at = Instant(required=True)
    submit = fields.Dict(required=True, allow_none=True)


class Subjects(Payload, frozen=True):
    """The subjects of a query: one, or several."""

    subject: str | None = None
    subjects: list[str] | None = None


class SubjectsSchema(Schema):
    """One subject, or up to fifty."""

    loads_into = Subjects

    subject = Text(min_length=50, max_length=50, pattern=SUBJECT)
    subjects = List(Text(min_length=50, max_length=50, pattern=SUBJECT), min_length=1, max_length=MAX_SUBJECTS)


class SubjectStateSchema(marshmallow.Schema):
    """The remembered decision of one subject, or of each of several."""

    state = fields.String(metadata={"enum": ["unknown", *DECISIONS]})
    revision = fields.Integer()
    subjects = fields.List(fields.Dict())
