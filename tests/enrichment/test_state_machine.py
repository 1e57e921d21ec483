"""Requests, answers, choices, links, decisions and expiry, compared with a model of what each customer sees."""

import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar

from flask.testing import FlaskClient
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from app.core.database import transaction
from app.retention import service as retention
from tests.context_api import ADVERTISING, PERSONALIZATION, Clock, ContextApi, item
from tests.factories import create_company

VALUES = ("short", "long_form", "video", "audio")
FIELD_KEY = "content.format"
"""A field that both purposes may ask for."""

USERS = ("u1", "u2")
VISITORS = ("n1",)
purposes = st.sampled_from([PERSONALIZATION, ADVERTISING])


@dataclass
class Person:
    """The expected state of a customer."""

    choices: dict[str, str] = field(default_factory=dict)
    signals: list["Signal"] = field(default_factory=list)


@dataclass
class Signal:
    """The expected state of a signal."""

    purpose: str
    value: str
    interaction_id: str
    is_remembered: bool
    ends_at: Any
    is_anonymous: bool


@dataclass
class Request:
    """The expected state of an enrichment request."""

    body: Any
    purpose: str
    customer: Person
    is_known: bool
    is_anonymous: bool
    may_remember: bool
    ends_at: Any
    state: str = "answer_ready"
    answer: tuple[str, bool] | None = None
    has_approved: bool = False


class ContextMachine(RuleBasedStateMachine):
    """A company, two users, an anonymous visitor who may sign in as one of them, and agents."""

    client: ClassVar[FlaskClient]
    clock: ClassVar[Clock]
    requests = Bundle("requests")

    @initialize()
    def create(self) -> None:
        with transaction():
            self.api = ContextApi(self.client, create_company())
        self.customers: dict[str, Person] = {}
        self.links: dict[str, str] = {}
        self.all_requests: list[Request] = []
        self.decisions: list[tuple[dict[str, Any], bytes]] = []

    @rule(target=requests, name=st.sampled_from([*USERS, *VISITORS, None]), purpose=purposes, remember=st.booleans())
    def ask(self, name: str | None, purpose: str, remember: bool) -> Request:
        """A product requests context, with or without a reference."""
        return self._ask(self._references(name), self._customer(name), purpose, remember)

    @rule(target=requests, user=st.sampled_from(USERS), visitor=st.sampled_from(VISITORS), purpose=purposes)
    def sign_in(self, user: str, visitor: str, purpose: str) -> Request | None:
        """An anonymous visitor signs in as a user."""
        references = {"userRef": user, "anonymousRef": visitor}
        if self.links.get(visitor, user) != user:
            assert self.api.ask(purpose=purpose, **references).json["code"] == "linked_elsewhere"
            return None
        if visitor not in self.links:
            self._link(user, visitor)
        return self._ask(references, self._customer(user), purpose, True)

    @rule(target=requests, name=st.sampled_from([*USERS, *VISITORS]), purpose=purposes, value=st.sampled_from(VALUES))
    def answer_request(self, name: str, purpose: str, value: str) -> Request:
        """An agent answers at once, to be remembered."""
        request = self._ask(self._references(name), self._customer(name), purpose, True)
        self.answer(request, value, remember=True)
        return request

    @rule(request=requests)
    def change_mind(self, request: Request | None) -> None:
        """A user declines and then approves."""
        self.choose(request, "declined")
        self.choose(request, "approved")

    @rule(request=requests, value=st.sampled_from(VALUES), remember=st.booleans())
    def answer(self, request: Request | None, value: str, remember: bool) -> None:
        """An agent answers, perhaps again, late, or in another way."""
        if request is None:
            return
        receipt = self.api.answer(request.body, item(FIELD_KEY, value, remember=remember))
        expected_status = self._expected_status(request, value, remember)
        assert receipt.status_code == expected_status, (receipt.data, request)
        if expected_status == 200 and request.state == "answer_ready":
            request.state, request.answer = "answered", (value, remember)
            now = self.clock.now
            ends_at = now + timedelta(days=90) if remember else request.ends_at
            interaction_id = request.body["interactionId"]
            if remember:
                self._supersede(request)
            signal = Signal(request.purpose, value, interaction_id, remember, ends_at, request.is_anonymous)
            request.customer.signals.append(signal)
            self.clock.advance(seconds=1)

    def _expected_status(self, request: Request, value: str, remember: bool) -> int:
        if self.clock.now >= request.ends_at:
            return 401
        if request.state == "answered" and request.answer == (value, remember):
            return 200
        if remember and not request.may_remember:
            return 422
        return {"answer_ready": 200, "declined": 403, "answered": 409}[request.state]

    @rule(request=requests, decision=st.sampled_from(["approved", "declined"]))
    def choose(self, request: Request | None, decision: str) -> None:
        """A user declines or approves."""
        if request is None:
            return
        response = self.api.choose(request.body, decision)
        if self.clock.now >= request.ends_at:
            assert response.status_code == 401
            return
        previous_state = request.state
        if decision == "declined":
            self._decline(request)
        else:
            self._approve(request)
        assert (response.json["state"], response.json["changed"]) == (request.state, request.state != previous_state)

    @rule(minutes=st.sampled_from([1, 70]), has_expiry=st.booleans())
    def wait(self, minutes: int, has_expiry: bool) -> None:
        """Time passes, whether or not a job has run."""
        self.clock.advance(minutes=minutes)
        if has_expiry:
            retention.expire_enrichment()

    @rule(name=st.sampled_from([*USERS, *VISITORS]), purpose=purposes)
    def decide(self, name: str, purpose: str) -> None:
        """The company retrieves and records a decision."""
        context = self.api.retrieve(purpose, **self._references(name)).json
        body = {
            "externalDecisionId": f"d{len(self.decisions)}",
            "contextRetrievalId": context["retrievalId"],
            "signalIds": [entry["signalId"] for entry in context["items"]],
        }
        decision = self.api.post("/personalization/decisions", body)
        assert decision.status_code == 200, decision.data
        self.decisions.append((body, decision.data))

    def teardown(self) -> None:
        self.values_agree_with_the_model()

    @precondition(lambda self: len(self.all_requests) % 2)
    @invariant()
    def values_agree_with_the_model(self) -> None:
        for name in (*USERS, *VISITORS):
            for purpose in (PERSONALIZATION, ADVERTISING):
                customer = self.customers.get(self.links.get(name, name))
                values = self._expected_values(customer, purpose, name in VISITORS)
                assert self.api.context_values(purpose, **self._references(name)) == values

    @invariant()
    def requests_agree_with_the_model(self) -> None:
        for request in self.all_requests[-2:]:
            response = self.api.inspect(request.body)
            if self.clock.now >= request.ends_at:
                assert response.status_code == 401
            else:
                assert (response.json["state"], response.json["submit"] is not None) == (
                    request.state,
                    request.state == "answer_ready",
                )
            interaction_id = request.body["interactionId"]
            signals = [signal for signal in request.customer.signals if signal.interaction_id == interaction_id]
            signals = [signal for signal in signals if signal.purpose == request.purpose]
            values = [signal.value for signal in signals if signal.ends_at > self.clock.now]
            assert list(self.api.context_values(request.purpose, interactionId=interaction_id).values()) == values

    @invariant()
    def decisions_do_not_change(self) -> None:
        for body, data in self.decisions[-1:]:
            assert self.api.post("/personalization/decisions", body).data == data

    def _references(self, name: str | None) -> dict[str, str]:
        return {} if name is None else {"userRef" if name in USERS else "anonymousRef": name}

    def _customer(self, name: str | None) -> Person:
        return Person() if name is None else self.customers.setdefault(self.links.get(name, name), Person())

    def _ask(self, references: dict[str, str], customer: Person, purpose: str, may_remember: bool) -> Request:
        details = {"interactionId": str(uuid.uuid4()), "purpose": purpose, "remember": may_remember, **references}
        response = self.api.ask(**details)
        assert response.status_code == 200, response.data
        assert self.api.ask(**details, durationMs=3).data == response.data
        request = Request(
            response.json,
            purpose,
            customer,
            bool(references),
            set(references) == {"anonymousRef"},
            may_remember and bool(references),
            self.clock.now + timedelta(hours=2),
        )
        if customer.choices.get(purpose) == "declined":
            request.state = "declined"
        assert response.json["state"] == request.state
        self.all_requests.append(request)
        return request

    def _supersede(self, request: Request) -> None:
        expiries = {candidate.body["interactionId"]: candidate.ends_at for candidate in self.all_requests}
        for signal in request.customer.signals:
            if signal.is_remembered and signal.purpose == request.purpose:
                signal.is_remembered, signal.ends_at = False, expiries[signal.interaction_id]

    def _decline(self, request: Request) -> None:
        customer = request.customer
        customer.choices[request.purpose] = "declined"
        if request.is_known:
            self._revoke(customer, request.purpose)
        else:
            customer.signals.clear()
            request.state, request.answer = "declined", None

    def _approve(self, request: Request) -> None:
        if request.state == "declined" and request.has_approved:
            return
        request.has_approved = True
        request.customer.choices[request.purpose] = "approved"
        if request.state == "declined":
            request.state, request.answer = "answer_ready", None

    def _revoke(self, customer: Person, purpose: str) -> None:
        customer.signals[:] = [signal for signal in customer.signals if signal.purpose != purpose]
        for candidate in self.all_requests:
            if candidate.customer is customer and candidate.purpose == purpose:
                candidate.state, candidate.answer = "declined", None

    def _link(self, user: str, visitor: str) -> None:
        customer, visitor_model = self._customer(user), self.customers.pop(visitor, Person())
        self.links[visitor] = user
        customer.signals = sorted(customer.signals + visitor_model.signals, key=lambda signal: signal.ends_at)
        for request in self.all_requests:
            if request.customer is visitor_model:
                request.customer = customer
        for purpose, decision in visitor_model.choices.items():
            if decision == "declined" or purpose not in customer.choices:
                customer.choices[purpose] = decision
        for purpose, decision in customer.choices.items():
            if decision == "declined":
                self._revoke(customer, purpose)

    def _expected_values(self, customer: Person | None, purpose: str, is_anonymous: bool) -> dict[str, str]:
        signals = [
            signal
            for signal in (customer.signals if customer else [])
            if (signal.is_anonymous or not is_anonymous) and signal.is_remembered
            if signal.purpose == purpose and signal.ends_at > self.clock.now
        ]
        return {FIELD_KEY: max(signals, key=lambda signal: signal.ends_at).value} if signals else {}


def test_customers_see_what_the_model_says(client: FlaskClient, clock: Clock) -> None:
    ContextMachine.client, ContextMachine.clock = client, clock
    run_state_machine_as_test(
        ContextMachine,
        settings=settings(
            max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
