"""marshmallow schemas of decisions and their outcomes."""

from datetime import datetime

from marshmallow import fields

from app.core.wire.fields import Choice, Identifier, Instant, Text
from app.core.wire.schemas import List, Nested, Payload, Schema
from app.customers.rules import PURPOSES
from app.personalization.rules import EXTERNAL_ID_PATTERN, MAX_EXTERNAL_ID_LENGTH, MAX_SIGNALS, OUTCOMES


def external_id(*, required: bool = True) -> Text:
    """Return the field of an id that the company chose."""
    return Text(max_length=MAX_EXTERNAL_ID_LENGTH, pattern=EXTERNAL_ID_PATTERN, required=required)


class NewDecision(Payload, frozen=True):
    """A new decision."""

    external_decision_id: str
    context_retrieval_id: str
    signal_ids: list[str]
    variant: str | None = None


class NewDecisionSchema(Schema):
    """A decision, and the signals that it was made from."""

    loads_into = NewDecision
    example = {
        "externalDecisionId": "ranking-2026-01-31-0001",
        "contextRetrievalId": "7e1c9a52-3b4d-4f60-8a71-92c3d4e5f607",
        "signalIds": ["c1d2e3f4-0516-4278-9a3b-4c5d6e7f8091"],
        "variant": "reranked",
    }

    external_decision_id = external_id()
    context_retrieval_id = Identifier(required=True)
    signal_ids = List(Identifier(), max_length=MAX_SIGNALS, required=True)
    variant = external_id(required=False)


class StoredDecisionSchema(Schema):
    """A decision as it is stored."""

    id = fields.UUID(required=True)
    external_decision_id = fields.String(required=True)
    context_retrieval_id = fields.UUID(required=True)
    purpose = Choice(PURPOSES, required=True)
    signal_ids = fields.List(fields.UUID(), required=True)
    variant = fields.String(required=True, allow_none=True)
    created_at = Instant(required=True)


class DecisionWithOutcomeSchema(StoredDecisionSchema):
    """A decision with its last outcome, which is null without one."""

    outcome = Choice(OUTCOMES, required=True, is_nullable=True)
    occurred_at = Instant(required=True, is_nullable=True)


class DecisionReceiptSchema(Schema):
    """The same response to the first call and every retry."""

    decision = Nested(StoredDecisionSchema, required=True)


class NewOutcome(Payload, frozen=True):
    """A new outcome."""

    external_outcome_id: str
    decision_id: str
    outcome: str
    occurred_at: datetime | None = None


class NewOutcomeSchema(Schema):
    """The outcome of a decision; without `occurredAt` it occurred when it was recorded."""

    loads_into = NewOutcome
    example = {
        "externalOutcomeId": "order-4711",
        "decisionId": "2a4c6e80-1b3d-4f5a-8c7e-9b0d1f2e3a4c",
        "outcome": OUTCOMES[0],
        "occurredAt": "2026-01-31T12:05:00Z",
    }

    external_outcome_id = external_id()
    decision_id = Identifier(required=True)
    outcome = Choice(OUTCOMES, required=True)
    occurred_at = Instant()


class StoredOutcomeSchema(Schema):
    """An outcome as it is stored."""

    id = fields.UUID(required=True)
    external_outcome_id = fields.String(required=True)
    decision_id = fields.UUID(required=True)
    outcome = Choice(OUTCOMES, required=True)
    occurred_at = Instant(required=True)
    created_at = Instant(required=True)


class OutcomeReceiptSchema(Schema):
    """The same response to the first call and every retry."""

    outcome = Nested(StoredOutcomeSchema, required=True)
