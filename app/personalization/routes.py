"""The endpoints of decisions and outcomes."""

from typing import Any

from app.core.http.blueprint import Blueprint
from app.personalization import service
from app.personalization.schemas import (
    DecisionReceiptSchema,
    NewDecision,
    NewDecisionSchema,
    NewOutcome,
    NewOutcomeSchema,
    OutcomeReceiptSchema,
)
from app.tokens.guards import current_environment

blp = Blueprint("personalization", __name__, description="Decisions and their outcomes.")


@blp.post("/decisions", operation_id="recordDecision")
@blp.arguments(NewDecisionSchema)
@blp.response(200, DecisionReceiptSchema, errors=(404, 409))
def record_decision(new_decision: NewDecision) -> dict[str, Any]:
    """Record a decision and the signals that it was made from.

    A retry gets the same response.
    """
    return {"decision": service.record_decision(current_environment(), new_decision)}


@blp.post("/outcomes", operation_id="recordOutcome")
@blp.arguments(NewOutcomeSchema)
@blp.response(200, OutcomeReceiptSchema, errors=(404, 409))
def record_outcome(new_outcome: NewOutcome) -> dict[str, Any]:
    """Record the outcome of a decision.

    A retry gets the same response.
    """
    return {"outcome": service.record_outcome(current_environment(), new_outcome)}
