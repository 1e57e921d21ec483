"""The pages of customers: who was seen, what is kept of one of them, and its export, erasure and opt-outs."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import Response, redirect, request
from werkzeug.wrappers import Response as AnyResponse
from wtforms import StringField
from wtforms.validators import Length, Optional, Regexp

from app.accounts.guards import require_role
from app.consent.queries import ConsentDecisionItem, list_decisions_of_interactions
from app.context.queries import RetrievalItem, list_retrievals
from app.core.errors import ApiError, NotFound, Unprocessable
from app.core.wire.text import python_pattern
from app.customers.queries import (
    ChoiceItem,
    CustomerItem,
    ReferenceItem,
    find_customer,
    list_choices,
    list_references,
)
from app.customers.rules import DECLINED, PURPOSES
from app.dashboard.customer_list import customer_list
from app.dashboard.forms import WriteForm
from app.dashboard.labels import label
from app.dashboard.lists import ItemList, list_page
from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope, scoped_url
from app.enrichment.queries import RequestItem, list_requests
from app.enrichment.signals import SignalItem, list_signals
from app.interactions.rules import MAX_REFERENCE_LENGTH, REFERENCE_PATTERN
from app.personalization.queries import DecisionItem, OutcomeItem, list_decisions_of, list_outcomes_of
from app.retention import customers as retention
from app.retention.customers import UnknownCustomer

MAX_SIGNALS = 100
MAX_ROWS = 50
"""Of each other list on the page of a customer."""
MAX_OUTCOMES = 200

NOTICES = {
    "erased": "The customer is erased.",
    "kept": "The customer is erased. The recorded no stays, with the digests that it is found by.",
    "opted-out": "The customer is opted out, and what was told for this purpose is removed.",
}

customers = PageBlueprint("customers", has_scope=True)


def _reference(name: str) -> StringField:
    pattern = Regexp(python_pattern(REFERENCE_PATTERN), message="Letters, digits and _ . : - only.")
    return StringField(
        label(name).capitalize(),
        [Optional(), Length(max=MAX_REFERENCE_LENGTH), pattern],
        filters=[lambda text: text and text.strip()],
        render_kw={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"},
    )


class SearchForm(WriteForm):
    """The references that a customer is looked for by; they are digested, and neither stored nor shown again."""

    user_ref = _reference("userRef")
    account_ref = _reference("accountRef")
    anonymous_ref = _reference("anonymousRef")

    def forget(self) -> None:
        """Leave what was typed out of the page."""
        for field in self:
            field.data = ""


@dataclass(frozen=True, slots=True)
class Purpose:
    """One purpose, with the customer's choice about it."""

    name: str
    choice: ChoiceItem | None

    @property
    def is_declined(self) -> bool:
        """Whether the customer has said no."""
        return self.choice is not None and self.choice.decision == DECLINED


@dataclass(frozen=True, slots=True)
class CustomerDetail:
    """Everything that is shown of a customer; each list has a bound."""

    customer: CustomerItem
    references: Sequence[ReferenceItem]
    purposes: Sequence[Purpose]
    signals: Sequence[SignalItem]
    requests: Sequence[RequestItem]
    retrievals: Sequence[RetrievalItem]
    decisions: Sequence[DecisionItem]
    outcomes: Sequence[OutcomeItem]
    consent_decisions: Sequence[ConsentDecisionItem]

    @property
    def uses(self) -> Counter[uuid.UUID]:
        """In how many of the shown retrievals each signal was, by its id."""
        return Counter(signal_id for retrieval in self.retrievals for signal_id in retrieval.signal_ids)

    @property
    def outcomes_by_decision(self) -> dict[uuid.UUID, list[OutcomeItem]]:
        """The outcomes of each decision, newest first."""
        outcomes = defaultdict(list)
        for outcome in self.outcomes:
            outcomes[outcome.decision_id].append(outcome)
        return outcomes


@customers.page("", "customers/page.html")
def show_search(scope: Scope) -> Page:
    """Show the form that finds a customer by reference, and who was seen last."""
    return _search_page(scope, SearchForm())


@customers.export()
def export_customers(scope: Scope) -> ItemList:
    """Export the list."""
    return customer_list(scope.product.id, scope.since, MAX_SIGNALS)


@customers.form("/search", "customers/page.html")
def find(scope: Scope) -> Page | AnyResponse:
    """Redirect to the customer that references name, whose address has nothing of them, or show the form again."""
    form = SearchForm()
    try:
        customer_id = _find_named(scope, form)
    except ApiError as error:
        return _search_page(scope, form, error)
    return redirect(scoped_url("customers.show_customer", customer_id=customer_id), 303)


@customers.page("/<uuid:customer_id>", "customers/customer.html")
def show_customer(scope: Scope, customer_id: uuid.UUID) -> Page:
    """Show what is kept of a customer."""
    return _customer_page(scope, customer_id, notice=NOTICES.get(request.args.get("done", "")))


@customers.page("/<uuid:customer_id>/export", "customers/export.html")
def confirm_export(scope: Scope, customer_id: uuid.UUID) -> Page:
    """Ask whether a customer's data shall be exported, with what is in it."""
    return _confirmation_page(scope, customer_id)


@customers.form("/<uuid:customer_id>/export")
def export_customer(scope: Scope, customer_id: uuid.UUID) -> AnyResponse:
    """Download what `flask customer export` prints."""
    _get(scope, customer_id)
    # The rows of one customer, in the transaction that records the export.
    lines = b"".join(retention.export_lines(scope.product.id, customer_id, scope.login.actor))
    headers = {"Content-Disposition": f'attachment; filename="customer-{customer_id}.ndjson"'}
    return Response(lines, mimetype="application/x-ndjson", headers=headers)


@customers.page("/<uuid:customer_id>/erase", "customers/erase.html")
def confirm_erasure(scope: Scope, customer_id: uuid.UUID) -> Page:
    """Ask whether a customer shall be erased, with what goes and what stays."""
    return _confirmation_page(scope, customer_id)


@customers.form("/<uuid:customer_id>/erase")
def erase_customer(scope: Scope, customer_id: uuid.UUID) -> AnyResponse:
    """Erase a customer, except a recorded no unless that is to go too."""
    _get(scope, customer_id)
    retention.erase_by_id(
        scope.product.id,
        customer_id,
        forgets_refusals=request.form.get("forget_refusals") == "y",
        actor=scope.login.actor,
    )
    if find_customer(scope.product.id, customer_id) is None:
        return redirect(scoped_url("customers.show_search", done="erased"), 303)
    return redirect(scoped_url("customers.show_customer", customer_id=customer_id, done="kept"), 303)


@customers.page("/<uuid:customer_id>/opt-out/<purpose>", "customers/opt_out.html")
def confirm_opt_out(scope: Scope, customer_id: uuid.UUID, purpose: str) -> Page:
    """Ask whether a customer's no shall be recorded, with what goes."""
    return _confirmation_page(scope, customer_id, purpose=_known_purpose(purpose))


@customers.form("/<uuid:customer_id>/opt-out/<purpose>")
def opt_out(scope: Scope, customer_id: uuid.UUID, purpose: str) -> AnyResponse:
    """Record that a customer has declined a purpose."""
    _get(scope, customer_id)
    retention.opt_out(scope.product.id, customer_id, _known_purpose(purpose), scope.login.actor)
    return redirect(scoped_url("customers.show_customer", customer_id=customer_id, done="opted-out"), 303)


def _find_named(scope: Scope, form: SearchForm) -> uuid.UUID:
    """Return the customer that a form names, or raise what is shown to whoever has sent it."""
    if not form.validate():
        raise Unprocessable("No customer can have these references.")
    user, account, anonymous = (field.data or None for field in (form.user_ref, form.account_ref, form.anonymous_ref))
    if not (user or account or anonymous):
        raise Unprocessable("Type a reference as your backend sends it.")
    references = retention.digest(scope.product.id, account, user, anonymous)
    return retention.get_named(scope.product.id, references)


def _search_page(scope: Scope, form: SearchForm, error: ApiError | None = None) -> Page:
    form.forget()
    # The list is not of the address that a search is sent to, so its pages are not either.
    variables = {"form": form, "error": error, "max_signals": MAX_SIGNALS} | ({} if error else _recent(scope))
    return Page(variables, error.status if error else 200)


def _recent(scope: Scope) -> dict[str, Any]:
    """Return the variables of the list of customers."""
    page = list_page(customer_list(scope.product.id, scope.since, MAX_SIGNALS))
    return {"list": page, "customers": page.rows, "notice": NOTICES.get(request.args.get("done", ""))}


def _get(scope: Scope, customer_id: uuid.UUID) -> CustomerItem:
    """Return a customer of the product, or raise `UnknownCustomer`."""
    customer = find_customer(scope.product.id, customer_id)
    if customer is None:
        raise UnknownCustomer("There is no customer with this id in this product.")
    return customer


def _known_purpose(purpose: str) -> str:
    if purpose not in PURPOSES:
        raise NotFound
    return purpose


def _confirmation_page(scope: Scope, customer_id: uuid.UUID, **variables: Any) -> Page:
    """Return the page of a second step, for those who may do the first."""
    _get(scope, customer_id)
    require_role()
    return _customer_page(scope, customer_id, **variables)


def _customer_page(scope: Scope, customer_id: uuid.UUID, **variables: Any) -> Page:
    names = {
        environment.id: environment.name
        for entry in scope.products
        if entry.product.id == scope.product.id
        for environment in entry.environments
    }
    bounds = {"max_signals": MAX_SIGNALS, "max_rows": MAX_ROWS, "max_outcomes": MAX_OUTCOMES}
    detail = _load(scope.product.id, _get(scope, customer_id), list(names))
    return Page({"detail": detail, "environment_names": names, **bounds, **variables})


def _load(product_id: uuid.UUID, customer: CustomerItem, environment_ids: Sequence[uuid.UUID]) -> CustomerDetail:
    choices = {choice.purpose: choice for choice in list_choices(product_id, [customer.id])}
    signals = list_signals(product_id, customer.id, MAX_SIGNALS)
    open_requests = list_requests(product_id, customer.id, MAX_ROWS)
    decisions = list_decisions_of(product_id, customer.id, MAX_ROWS)
    interaction_ids = {signal.interaction_id for signal in signals} | {item.interaction_id for item in open_requests}
    return CustomerDetail(
        customer=customer,
        references=list_references(product_id, customer.id),
        purposes=[Purpose(name, choices.get(name)) for name in PURPOSES],
        signals=signals,
        requests=open_requests,
        retrievals=list_retrievals(product_id, customer.id, MAX_ROWS),
        decisions=decisions,
        outcomes=list_outcomes_of(product_id, [decision.id for decision in decisions], MAX_OUTCOMES),
        consent_decisions=list_decisions_of_interactions(environment_ids, list(interaction_ids)),
    )
