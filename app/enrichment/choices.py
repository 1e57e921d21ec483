"""The user's explicit choice about one purpose."""

from app.core import clock
from app.core.database import session
from app.core.errors import Problem, Unprocessable
from app.customers import service as customers
from app.customers.rules import APPROVED, DECLINED
from app.enrichment import revocation, views
from app.enrichment.answers import decline, lock_request
from app.enrichment.models import EnrichmentRequest
from app.enrichment.queries import StoredRequest
from app.enrichment.rules import State, state_after
from app.enrichment.schemas import ContextChoice
from app.enrichment.views import ChoiceView, RequestView
from app.products.key_cache import CallerEnvironment


def choose(stored_request: StoredRequest, choice: ContextChoice) -> ChoiceView:
    """Record a choice: a refusal applies at once to every request; an approval ends it and restores nothing."""
    request = lock_request(stored_request)
    if choice.remember and not request.remember:
        problem = Problem("/remember", "remember_not_allowed", "What was not to be remembered cannot be; leave it out.")
        raise Unprocessable(problems=[problem])
    previous_choice = (request.state, request.remember)
    if choice.decision == DECLINED:
        decline(request)
    else:
        _approve(request)
    if choice.remember is False and request.remember:
        request.remember = False
        revocation.stop_remembering(request)
    session().flush()
    return views.show_choice(request, changed=previous_choice != (request.state, request.remember))


def inspect(environment: CallerEnvironment, stored_request: StoredRequest) -> RequestView:
    """Show a request in its current state."""
    return views.show(stored_request, environment.product_name)


def _approve(request: EnrichmentRequest) -> None:
    if request.approved_at is not None and request.state == State.DECLINED:
        # A yes that is sent again, perhaps delayed, says nothing about a no that came after it.
        return
    request.approved_at = clock.now()
    if request.customer_id is not None:
        customers.choose(request.product_id, request.customer_id, request.purpose, APPROVED)
    state = state_after(State(request.state), APPROVED)
    if state != request.state:
        # Nothing of what was answered before the no comes back.
        request.state = state
        request.answered_as = request.answer_fingerprint = request.receipt = None
