"""Requests, answers, choices, links, decisions and time, against a simple model of who may see what."""

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
from tests.conversations import ADVERTISING, PERSONALIZATION, Clock, ContextApi, item
from tests.factories import create_company

VALUES = ("short", "long_form", "video", "audio")
KEY = "content.format"
"""A field that both purposes may ask for."""

USERS = ("u1", "u2")
VISITORS = ("n1",)
purposes = st.sampled_from([PERSONALIZATION, ADVERTISING])


@dataclass
class Person:
    """A customer, as the service should know it."""

    choices: dict[str, str] = field(default_factory=dict)
    signals: list["Signal"] = field(default_factory=list)


@dataclass
class Signal:
    """One answer that counts."""

    purpose: str
    value: str
    interaction_id: str
    is_remembered: bool
    ends_at: Any
    is_anonymous: bool


@dataclass
class Request:
    """One request."""

    body: Any
    purpose: str
    person: Person
    is_known: bool
    is_anonymous: bool
    remembers: bool
    ends_at: Any
    state: str = "answer_ready"
    answer: tuple[str, bool] | None = None
    has_approved: bool = False


class Conversation(RuleBasedStateMachine):
    """A company, two users, two visitors who may turn out to be users, and agents."""

    client: ClassVar[FlaskClient]
    clock: ClassVar[Clock]
    requests = Bundle("requests")

    @initialize()
    def create(self) -> None:
        with transaction():
            self.api = ContextApi(self.client, create_company())
        self.people: dict[str, Person] = {}
        self.links: dict[str, str] = {}
        self.all_requests: list[Request] = []
        self.decisions: list[tuple[dict[str, Any], bytes]] = []

    @rule(target=requests, name=st.sampled_from([*USERS, *VISITORS, None]), purpose=purposes, remembers=st.booleans())
    def ask(self, name: str | None, purpose: str, remembers: bool) -> Request:
        """A product requests context, with or without a reference."""
        return self._ask(self._references(name), self._person(name), purpose, remembers)

    @rule(target=requests, user=st.sampled_from(USERS), visitor=st.sampled_from(VISITORS), purpose=purposes)
    def sign_in(self, user: str, visitor: str, purpose: str) -> Request | None:
        """A visitor turns out to be a user."""
        references = {"userRef": user, "anonymousRef": visitor}
        if self.links.get(visitor, user) != user:
            assert self.api.ask(purpose=purpose, **references).json["code"] == "linked_elsewhere"
            return None
        if visitor not in self.links:
            self._link(user, visitor)
        return self._ask(references, self._person(user), purpose, True)

    @rule(target=requests, name=st.sampled_from([*USERS, *VISITORS]), purpose=purposes, value=st.sampled_from(VALUES))
    def answer_request(self, name: str, purpose: str, value: str) -> Request:
        """An agent answers at once, to be remembered."""
        request = self._ask(self._references(name), self._person(name), purpose, True)
        self.answer(request, value, remember=True)
        return request

    @rule(request=requests)
    def change_mind(self, request: Request | None) -> None:
        """A user says no and takes it back."""
        self.choose(request, "declined")
        self.choose(request, "approved")

    @rule(request=requests, value=st.sampled_from(VALUES), remember=st.booleans())
    def answer(self, request: Request | None, value: str, remember: bool) -> None:
        """An agent answers, perhaps again, late, or in another way."""
        if request is None:
            return
        receipt = self.api.answer(request.body, item(KEY, value, remember=remember))
        expected = self._expected(request, value, remember)
        assert receipt.status_code == expected, (receipt.data, request)
        if expected == 200 and request.state == "answer_ready":
            request.state, request.answer = "answered", (value, remember)
            now = self.clock.now
            ends_at = now + timedelta(days=90) if remember else request.ends_at
            interaction_id = request.body["interactionId"]
            if remember:
                self._supersede(request)
            signal = Signal(request.purpose, value, interaction_id, remember, ends_at, request.is_anonymous)
            request.person.signals.append(signal)
            self.clock.advance(seconds=1)

    def _expected(self, request: Request, value: str, remember: bool) -> int:
        if self.clock.now >= request.ends_at:
            return 401
        if request.state == "answered" and request.answer == (value, remember):
            return 200
        if remember and not request.remembers:
            return 422
        return {"answer_ready": 200, "declined": 403, "answered": 409}[request.state]

    @rule(request=requests, decision=st.sampled_from(["approved", "declined"]))
    def choose(self, request: Request | None, decision: str) -> None:
        """A user says no, or takes it back."""
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

    @rule(minutes=st.sampled_from([1, 70]), sweeps=st.booleans())
    def wait(self, minutes: int, sweeps: bool) -> None:
        """Time passes, whether or not a job has run."""
        self.clock.advance(minutes=minutes)
        if sweeps:
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
        self.everybody_sees_what_the_model_says()

    @precondition(lambda self: len(self.all_requests) % 2)
    @invariant()
    def everybody_sees_what_the_model_says(self) -> None:
        for name in (*USERS, *VISITORS):
            for purpose in (PERSONALIZATION, ADVERTISING):
                expected = self._expected_values(self.people.get(self.links.get(name, name)), purpose, name in VISITORS)
                assert self.api.context_values(purpose, **self._references(name)) == expected

    @invariant()
    def requests_stand_where_the_model_says(self) -> None:
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
            signals = [signal for signal in request.person.signals if signal.interaction_id == interaction_id]
            signals = [signal for signal in signals if signal.purpose == request.purpose]
            current = [signal.value for signal in signals if signal.ends_at > self.clock.now]
            assert list(self.api.context_values(request.purpose, interactionId=interaction_id).values()) == current

    @invariant()
    def decisions_stay(self) -> None:
        for body, data in self.decisions[-1:]:
            assert self.api.post("/personalization/decisions", body).data == data

    def _references(self, name: str | None) -> dict[str, str]:
        if name is None:
            return {}
        return {"userRef": name} if name in USERS else {"anonymousRef": name}

    def _person(self, name: str | None) -> Person:
        return Person() if name is None else self.people.setdefault(self.links.get(name, name), Person())

    def _ask(self, references: dict[str, str], person: Person, purpose: str, remembers: bool) -> Request:
        details = {"interactionId": str(uuid.uuid4()), "purpose": purpose, "remember": remembers, **references}
        response = self.api.ask(**details)
        assert response.status_code == 200, response.data
        assert self.api.ask(**details, durationMs=3).data == response.data
        request = Request(
            response.json,
            purpose,
            person,
            bool(references),
            set(references) == {"anonymousRef"},
            remembers and bool(references),
            self.clock.now + timedelta(hours=2),
        )
        if person.choices.get(purpose) == "declined":
            request.state = "declined"
        assert response.json["state"] == request.state
        self.all_requests.append(request)
        return request

    def _supersede(self, request: Request) -> None:
        expiries = {candidate.body["interactionId"]: candidate.ends_at for candidate in self.all_requests}
        for signal in request.person.signals:
            if signal.is_remembered and signal.purpose == request.purpose:
                signal.is_remembered, signal.ends_at = False, expiries[signal.interaction_id]

    def _decline(self, request: Request) -> None:
        person = request.person
        person.choices[request.purpose] = "declined"
        if request.is_known:
            self._revoke(person, request.purpose)
        else:
            person.signals.clear()
            request.state, request.answer = "declined", None

    def _approve(self, request: Request) -> None:
        if request.state == "declined" and request.has_approved:
            return
        request.has_approved = True
        request.person.choices[request.purpose] = "approved"
        if request.state == "declined":
            request.state, request.answer = "answer_ready", None

    def _revoke(self, person: Person, purpose: str) -> None:
        person.signals[:] = [signal for signal in person.signals if signal.purpose != purpose]
        for candidate in self.all_requests:
            if candidate.person is person and candidate.purpose == purpose:
                candidate.state, candidate.answer = "declined", None

    def _link(self, user: str, visitor: str) -> None:
        person, visitor_data = self._person(user), self.people.pop(visitor, Person())
        self.links[visitor] = user
        person.signals = sorted(person.signals + visitor_data.signals, key=lambda signal: signal.ends_at)
        for request in self.all_requests:
            if request.person is visitor_data:
                request.person = person
        for purpose, decision in visitor_data.choices.items():
            if decision == "declined" or purpose not in person.choices:
                person.choices[purpose] = decision
        for purpose, decision in person.choices.items():
            if decision == "declined":
                self._revoke(person, purpose)

    def _expected_values(self, person: Person | None, purpose: str, is_anonymous: bool) -> dict[str, str]:
        signals = person.signals if person else []
        visible = [signal for signal in signals if signal.is_anonymous or not is_anonymous]
        remembered = [signal for signal in visible if signal.is_remembered and signal.purpose == purpose]
        current = [signal for signal in remembered if signal.ends_at > self.clock.now]
        return {KEY: max(current, key=lambda signal: signal.ends_at).value} if current else {}


def test_nobody_ever_sees_anything_but_what_the_model_says(client: FlaskClient, clock: Clock) -> None:
    Conversation.client, Conversation.clock = client, clock
    run_state_machine_as_test(
        Conversation,
        settings=settings(
            max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
