"""HTTP endpoints of reviews."""

from app.core.http.blueprint import Blueprint
from app.outcomes import service
from app.outcomes.schemas import AcceptedOutcomeSchema, Outcome, OutcomeSchema
from app.outcomes.service import AcceptedOutcome
from app.tokens.guards import current_capability, current_environment

blp = Blueprint("outcomes", __name__, description="Reviews, sent by the customer's agent.")


@blp.post("/outcomes", operation_id="submitOutcome")
@blp.arguments(OutcomeSchema)
@blp.response(200, AcceptedOutcomeSchema, errors=(403, 410))
def record(outcome: Outcome) -> AcceptedOutcome:
    """Record the review of one product response.

    The first review stays; every later submission gets it back. Safe to retry once after a 5xx.
    """
    return service.record(current_environment(), current_capability(), outcome)


@blp.fallback(AcceptedOutcomeSchema)
def find() -> AcceptedOutcome | None:
    """Answer an invalid request with the review that is stored already, if there is one."""
    return service.find_accepted_outcome(current_environment(), current_capability())
