"""marshmallow schemas of reviews."""

from marshmallow import fields

from app.core.wire.fields import Choice, Flag, Identifier, Instant, Text
from app.core.wire.schemas import Nested, Payload, Schema
from app.interactions.rules import SURFACES, UNKNOWN_SURFACE
from app.outcomes.rules import MAX_NOTE_LENGTH, MIN_NOTE_LENGTH, OUTCOMES


class Outcome(Payload, frozen=True):
    """What an agent submits."""

    outcome: str
    note: str


class OutcomeSchema(Schema):
    """How it went, and one factual sentence about it."""

    loads_into = Outcome
    example = {"outcome": "success", "note": "Every field matched what the documentation promised."}

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


class PreviewedReviewSchema(ReviewSchema):
    """What an agent has written of a review."""

    class Meta(ReviewSchema.Meta):
        """Leave out what only storing brings."""

        exclude = ("id", "interaction_id", "created_at")


class ReviewItemSchema(ReviewSchema):
    """A review, and what it is about; `pending` and `unknown` where telemetry has not told."""

    operation = fields.String(required=True)
    surface = Choice((*SURFACES, UNKNOWN_SURFACE), required=True)


class AcceptedOutcomeSchema(Schema):
    """The same answer for the first and every later submission."""

    example = {
        "accepted": True,
        "interactionId": "5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10",
        "review": {
            "id": "9d4b2f0a-6f5c-4a0e-8d61-3c2b7f1e5a44",
            "interactionId": "5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10",
            "outcome": "success",
            "note": "Every field matched what the documentation promised.",
            "source": "capability",
            "createdAt": "2026-01-31T12:00:00Z",
        },
    }

    accepted = Flag(required=True)
    interaction_id = Identifier(required=True)
    review = Nested(ReviewSchema, required=True)


class OutcomePreviewSchema(Schema):
    """What a review would be stored as; `wouldBeStored` is false where an earlier one stays, which `review` is then."""

    example = {
        "interactionId": "5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10",
        "wouldBeStored": True,
        "review": {
            "outcome": "success",
            "note": "Every field matched what the documentation promised.",
            "source": "capability",
        },
    }

    interaction_id = Identifier(required=True)
    would_be_stored = Flag(required=True)
    review = Nested(PreviewedReviewSchema, required=True)
