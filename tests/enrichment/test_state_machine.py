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
from tests.conversations import ADVERTISING, PERSONALIZATION, Clock, Talk, item
from tests.factories import found_company

VALUES = ("short", "long_form", "video", "audio")
KEY = "content.format"
"""One question that both purposes may ask."""

USERS = ("u1", "u2")
VISITORS = ("n1",)
purposes = st.sampled_from([PERSONALIZATION, ADVERTISING])


@dataclass
class Person:
    """Whom the service should know, and what it should know."""

    choices: dict[str, str] = field(default_factory=dict)
    told: list["Told"] = field(default_factory=list)


@dataclass
class Told:
    """One answer that counts."""

    purpose: str
    value: str
    interaction_id: str
    is_remembered: bool
    ends_at: Any


@dataclass
class Asked:
    """One request."""

    body: Any
    purpose: str
    person: Person
    is_known: bool
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
    def found(self) -> None:
        with transaction():
            self.talk = Talk(self.client, found_company())
        self.people: dict[str, Person] = {}
        self.links: dict[str, str] = {}
        self.asked: list[Asked] = []
        self.decisions: list[tuple[dict[str, Any], bytes]] = []

    @rule(target=requests, who=st.sampled_from([*USERS, *VISITORS, None]), purpose=purposes, remembers=st.booleans())
    def ask(self, who: str | None, purpose: str, remembers: bool) -> Asked:
        """A product response asks, for somebody or for nobody in particular."""
        return self._ask(self._references(who), self._person(who), purpose, remembers)

    @rule(target=requests, user=st.sampled_from(USERS), visitor=st.sampled_from(VISITORS), purpose=purposes)
    def sign_in(self, user: str, visitor: str, purpose: str) -> Asked | None:
        """A visitor turns out to be a user."""
        references = {"userRef": user, "anonymousRef": visitor}
        if self.links.get(visitor, user) != user:
            assert self.talk.ask(purpose=purpose, **references).json["code"] == "linked_elsewhere"
            return None
        if visitor not in self.links:
            self._link(user, visitor)
        return self._ask(references, self._person(user), purpose, True)

    @rule(target=requests, who=st.sampled_from([*USERS, *VISITORS]), purpose=purposes, value=st.sampled_from(VALUES))
    def tell(self, who: str, purpose: str, value: str) -> Asked:
        """An agent answers at once, to be remembered."""
        asked = self._ask(self._references(who), self._person(who), purpose, True)
        self.answer(asked, value, remember=True)
        return asked

    @rule(asked=requests)
    def change_mind(self, asked: Asked | None) -> None:
        """A user says no and takes it back."""
        self.choose(asked, "declined")
        self.choose(asked, "approved")

    @rule(asked=requests, value=st.sampled_from(VALUES), remember=st.booleans())
    def answer(self, asked: Asked | None, value: str, remember: bool) -> None:
        """An agent answers, perhaps again, late, or in another way."""
        if asked is None:
            return
        answered = self.talk.answer(asked.body, item(KEY, value, remember=remember))
        expected = self._expected(asked, value, remember)
        assert answered.status_code == expected, (answered.data, asked)
        if expected == 200 and asked.state == "answer_ready":
            asked.state, asked.answer = "answered", (value, remember)
            now = self.clock.now
            ends_at = now + timedelta(days=90) if remember else asked.ends_at
            interaction_id = asked.body["interactionId"]
            if remember:
                self._supersede(asked)
            asked.person.told.append(Told(asked.purpose, value, interaction_id, remember, ends_at))
            self.clock.advance(seconds=1)

    def _expected(self, asked: Asked, value: str, remember: bool) -> int:
        if self.clock.now >= asked.ends_at:
            return 401
        if asked.state == "answered" and asked.answer == (value, remember):
            return 200
        if remember and not asked.remembers:
            return 422
        return {"answer_ready": 200, "declined": 403, "answered": 409}[asked.state]

    @rule(asked=requests, decision=st.sampled_from(["approved", "declined"]))
    def choose(self, asked: Asked | None, decision: str) -> None:
        """A user says no, or takes it back."""
        if asked is None:
            return
        chosen = self.talk.choose(asked.body, decision)
        if self.clock.now >= asked.ends_at:
            assert chosen.status_code == 401
            return
        before = asked.state
        if decision == "declined":
            self._decline(asked)
        else:
            self._approve(asked)
        assert (chosen.json["state"], chosen.json["changed"]) == (asked.state, asked.state != before)

    @rule(minutes=st.sampled_from([1, 70]), sweeps=st.booleans())
    def wait(self, minutes: int, sweeps: bool) -> None:
        """Time passes, whether or not a job has run."""
        self.clock.advance(minutes=minutes)
        if sweeps:
            retention.expire_enrichment()

    @rule(who=st.sampled_from([*USERS, *VISITORS]), purpose=purposes)
    def decide(self, who: str, purpose: str) -> None:
        """The company uses what it knows, and tells so."""
        found = self.talk.retrieve(purpose, **self._references(who)).json
        body = {
            "externalDecisionId": f"d{len(self.decisions)}",
            "contextRetrievalId": found["retrievalId"],
            "signalIds": [entry["signalId"] for entry in found["items"]],
        }
        decided = self.talk.post("/personalization/decisions", body)
        assert decided.status_code == 200, decided.data
        self.decisions.append((body, decided.data))

    def teardown(self) -> None:
        self.everybody_sees_what_the_model_says()

    @precondition(lambda self: len(self.asked) % 2)
    @invariant()
    def everybody_sees_what_the_model_says(self) -> None:
        for who in (*USERS, *VISITORS):
            for purpose in (PERSONALIZATION, ADVERTISING):
                expected = self._known(self.people.get(self.links.get(who, who)), purpose)
                assert self.talk.known(purpose, **self._references(who)) == expected

    @invariant()
    def requests_stand_where_the_model_says(self) -> None:
        for asked in self.asked[-2:]:
            shown = self.talk.inspect(asked.body)
            if self.clock.now >= asked.ends_at:
                assert shown.status_code == 401
            else:
                assert (shown.json["state"], shown.json["submit"] is not None) == (
                    asked.state,
                    asked.state == "answer_ready",
                )
            interaction_id = asked.body["interactionId"]
            told = [one for one in asked.person.told if one.interaction_id == interaction_id]
            current = [one.value for one in told if one.purpose == asked.purpose and one.ends_at > self.clock.now]
            assert list(self.talk.known(asked.purpose, interactionId=interaction_id).values()) == current

    @invariant()
    def decisions_stay(self) -> None:
        for body, data in self.decisions[-1:]:
            assert self.talk.post("/personalization/decisions", body).data == data

    def _references(self, who: str | None) -> dict[str, str]:
        if who is None:
            return {}
        return {"userRef": who} if who in USERS else {"anonymousRef": who}

    def _person(self, who: str | None) -> Person:
        return Person() if who is None else self.people.setdefault(self.links.get(who, who), Person())

    def _ask(self, references: dict[str, str], person: Person, purpose: str, remembers: bool) -> Asked:
        details = {"interactionId": str(uuid.uuid4()), "purpose": purpose, "remember": remembers, **references}
        made = self.talk.ask(**details)
        assert made.status_code == 200, made.data
        assert self.talk.ask(**details, durationMs=3).data == made.data
        asked = Asked(
            made.json,
            purpose,
            person,
            bool(references),
            remembers and bool(references),
            self.clock.now + timedelta(hours=2),
        )
        if person.choices.get(purpose) == "declined":
            asked.state = "declined"
        assert made.json["state"] == asked.state
        self.asked.append(asked)
        return asked

    def _supersede(self, asked: Asked) -> None:
        ends = {other.body["interactionId"]: other.ends_at for other in self.asked}
        for told in asked.person.told:
            if told.is_remembered and told.purpose == asked.purpose:
                told.is_remembered, told.ends_at = False, ends[told.interaction_id]

    def _decline(self, asked: Asked) -> None:
        person = asked.person
        person.choices[asked.purpose] = "declined"
        if asked.is_known:
            self._revoke(person, asked.purpose)
        else:
            person.told.clear()
            asked.state, asked.answer = "declined", None

    def _approve(self, asked: Asked) -> None:
        if asked.state == "declined" and asked.has_approved:
            return
        asked.has_approved = True
        asked.person.choices[asked.purpose] = "approved"
        if asked.state == "declined":
            asked.state, asked.answer = "answer_ready", None

    def _revoke(self, person: Person, purpose: str) -> None:
        person.told[:] = [one for one in person.told if one.purpose != purpose]
        for other in self.asked:
            if other.person is person and other.purpose == purpose:
                other.state, other.answer = "declined", None

    def _link(self, user: str, visitor: str) -> None:
        person, was = self._person(user), self.people.pop(visitor, Person())
        self.links[visitor] = user
        person.told = sorted(person.told + was.told, key=lambda one: one.ends_at)
        for asked in self.asked:
            if asked.person is was:
                asked.person = person
        for purpose, decision in was.choices.items():
            if decision == "declined" or purpose not in person.choices:
                person.choices[purpose] = decision
        for purpose, decision in person.choices.items():
            if decision == "declined":
                self._revoke(person, purpose)

    def _known(self, person: Person | None, purpose: str) -> dict[str, str]:
        told = [one for one in (person.told if person else []) if one.is_remembered and one.purpose == purpose]
        current = [one for one in told if one.ends_at > self.clock.now]
        return {KEY: max(current, key=lambda one: one.ends_at).value} if current else {}


def test_nobody_ever_sees_anything_but_what_the_model_says(client: FlaskClient, clock: Clock) -> None:
    Conversation.client, Conversation.clock = client, clock
    run_state_machine_as_test(
        Conversation,
        settings=settings(
            max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
