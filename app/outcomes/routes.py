"""HTTP endpoints of reviews."""

from app.core.http.blueprint import Blueprint
from app.outcomes import service
from app.outcomes.schemas import AcceptedOutcomeSchema, Outcome, OutcomePreviewSchema, OutcomeSchema
from app.outcomes.service import AcceptedOutcome, OutcomePreview
from app.tokens.guards import current_capability, current_environment

blp = Blueprint("outcomes", __name__, description="Reviews, sent by the customer's agent.")
previews = Blueprint("outcome_previews", __name__, description="What a review would be stored as.")


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


@previews.post("/outcomes/preview", operation_id="previewOutcome")
@previews.arguments(OutcomeSchema)
@previews.response(200, OutcomePreviewSchema, errors=(403, 410))
def preview(outcome: Outcome) -> OutcomePreview:
    """Return what a review would be stored as, and store nothing.

    The body is validated and screened exactly as when it is sent, so an agent can show a person what would leave.
    """
    return service.preview(current_environment(), current_capability(), outcome)
