"""HTTP endpoints of consent."""

from typing import Any

from app.consent import service
from app.consent.schemas import (
    Decision,
    DecisionResultSchema,
    DecisionSchema,
    IntrospectionSchema,
    Subjects,
    SubjectsSchema,
    SubjectStateSchema,
)
from app.consent.service import DecisionResult, Introspection
from app.core.http.blueprint import Blueprint
from app.tokens.guards import current_capability, current_environment, current_token

capabilities = Blueprint("capabilities", __name__, description="What a capability allows, as the service knows it.")
decisions = Blueprint("consent", __name__, description="The user's choice, sent by the customer's agent.")
states = Blueprint("consent_state", __name__, description="Remembered decisions, for the company's own SDK.")


@capabilities.post("/introspect", operation_id="introspectCapability")
@capabilities.response(200, IntrospectionSchema, errors=(410,))
def introspect() -> Introspection:
    """Return the authoritative state of a capability.

    Feedback-aware runtimes ask here before they show any question. The body is ignored.
    """
    return service.introspect(current_environment(), current_capability(), current_token())


@decisions.post("/decisions", operation_id="decideConsent")
@decisions.arguments(DecisionSchema)
@decisions.response(200, DecisionResultSchema, errors=(409,))
def decide(decision: Decision) -> DecisionResult:
    """Record the user's decision.

    The first decision of an interaction stays; a capability with an outdated revision gets the current state.
    """
    return service.decide(current_environment(), current_capability(), current_token(), decision.decision)


@states.post("/state", operation_id="getConsentStates")
@states.arguments(SubjectsSchema)
@states.response(200, SubjectStateSchema)
def state(query: Subjects) -> dict[str, Any]:
    """Return the remembered decision of one subject, or of up to fifty.

    A company's SDK fills its cache with it; a subject without a decision is `unknown`.
    """
    return service.get_states(current_environment(), query)
