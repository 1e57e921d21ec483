"""The wire shapes of reviews."""

from app.core.wire.fields import Choice, Flag, Identifier, Instant, Text
from app.core.wire.schemas import Nested, Payload, Schema
from app.outcomes.rules import MAX_NOTE_LENGTH, MIN_NOTE_LENGTH, OUTCOMES


class Outcome(Payload, frozen=True):
    """What an agent submits."""

    outcome: str
    note: str


class OutcomeSchema(Schema):
    """How it went, and one factual sentence about it."""

    loads_into = Outcome

    outcome = Choice(
        OUTCOMES,
        required=True,
        metadata={
            "description": "success: the result fully satisfied the task; partial: useful, but incomplete or with "
            "workarounds; failure: it did not satisfy the task."
        },
    )
    note = Text(min_length=MIN_NOTE_LENGTH, max_length=MAX_NOTE_LENGTH, normalized=True, required=True)


class ReviewSchema(Schema):
    """The review as it is stored."""

    id = Identifier(required=True)
    interaction_id = Identifier(required=True)
    outcome = Choice(OUTCOMES, required=True)
    note = Text(max_length=MAX_NOTE_LENGTH, required=True)
    source = Choice(("capability",), required=True)
    created_at = Instant(required=True)


class AcceptedOutcomeSchema(Schema):
    """The same answer for the first and every later submission."""

    accepted = Flag(required=True)
    interaction_id = Identifier(required=True)
    review = Nested(ReviewSchema, required=True)
