"""The user's explicit choice about one purpose."""

from app.core import clock
from app.core.database import session
from app.core.errors import Problem, Unauthorized, Unprocessable
from app.customers import service as customers
from app.customers.rules import APPROVED, DECLINED
from app.enrichment import revocation, views
from app.enrichment.answers import decline, lock_request
from app.enrichment.guards import OpenRequest
from app.enrichment.models import EnrichmentRequest
from app.enrichment.rules import State, state_after
from app.enrichment.schemas import ContextChoice
from app.enrichment.views import ChosenView, RequestView
from app.products.key_cache import CallerEnvironment
from app.products.service import get_environment


def choose(opened: OpenRequest, choice: ContextChoice) -> ChosenView:
    """Record a choice: a no counts at once and everywhere, a yes lifts it and starts from nothing."""
    request = lock_request(opened)
    if choice.remember and not request.remember:
        problem = Problem("/remember", "remember_not_allowed", "What was not to be remembered cannot be; leave it out.")
        raise Unprocessable(problems=[problem])
    before = (request.state, request.remember)
    if choice.decision == DECLINED:
        decline(request)
    else:
        _approve(request)
    if choice.remember is False and request.remember:
        request.remember = False
        revocation.stop_remembering(request)
    session().flush()
    return views.show_chosen(request, changed=before != (request.state, request.remember))


def inspect(environment: CallerEnvironment, opened: OpenRequest) -> RequestView:
    """Show a request as it stands."""
    request = session().get(EnrichmentRequest, (opened.environment_id, opened.interaction_id))
    if request is None:
        raise Unauthorized
    return views.show(request, environment.product_name, get_environment(environment.id).retention_days)


def _approve(request: EnrichmentRequest) -> None:
    if request.approved_at is not None and request.state == State.DECLINED:
        # A yes that comes again, perhaps delayed, says nothing about a no that came after it.
        return
    request.approved_at = clock.now()
    if request.customer_id is not None:
        customers.choose(request.product_id, request.customer_id, request.purpose, APPROVED)
    state = state_after(State(request.state), APPROVED)
    if state != request.state:
        # Nothing of what was answered before the no comes back.
        request.state = state
        request.answered_as = request.answer_fingerprint = request.receipt = None
