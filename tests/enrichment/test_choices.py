"""The user's choice, and what a no takes away."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.enrichment.models import Signal
from tests.conversations import ADVERTISING, Clock, Talk, handle, item
from tests.factories import Company


def count_signals() -> int:
    with transaction():
        return session().execute(select(func.count()).select_from(Signal)).scalar_one()


@pytest.mark.parametrize("how", ["answer", "choice"])
def test_a_no_counts_at_once_and_everywhere_until_a_yes(talk: Talk, how: str) -> None:
    remembered, open_request, asked = (talk.ask(userRef="u1").json for _ in range(3))
    advertised = talk.ask(userRef="u1", purpose=ADVERTISING).json
    talk.answer(remembered, item(remember=True))
    talk.answer(advertised, item("content.format", "audio", remember=True))
    assert talk.known(userRef="u1") == {"travel.stay_style": "quiet_boutique"}
    declined = talk.answer(asked, status="declined") if how == "answer" else talk.choose(asked, "declined")
    assert (declined.status_code, declined.json["state"]) == (200, "declined")
    assert talk.known(userRef="u1") == {}
    assert talk.known(userRef="u1", interactionId=remembered["interactionId"]) == {}
    assert talk.known(interactionId=remembered["interactionId"]) == {}
    for request in (remembered, open_request):
        assert talk.inspect(request).json["state"] == "declined"
        assert talk.inspect(request).json["submit"] is None
        assert talk.answer(request, item(remember=True)).json["code"] == "opted_out"
    later = talk.ask(userRef="u1").json
    assert (later["state"], later["submit"]) == ("declined", None)
    assert talk.answer(later, item()).status_code == 403
    assert talk.known(ADVERTISING, userRef="u1") == {"content.format": "audio"}
    approved = talk.choose(later, "approved").json
    assert (approved["state"], approved["changed"]) == ("answer_ready", True)
    assert approved["submit"]["authorization"] == f"Bearer {handle(later)}"
    assert talk.known(userRef="u1") == {}
    assert talk.answer(later, item(value="social", remember=True)).status_code == 200
    assert talk.known(userRef="u1") == {"travel.stay_style": "social"}
    assert talk.ask(userRef="u1").json["state"] == "answer_ready"


def test_a_delayed_yes_does_not_lift_a_newer_no(talk: Talk) -> None:
    first, second = talk.ask(userRef="u1").json, talk.ask(userRef="u1").json
    assert talk.choose(first, "approved").json["state"] == "answer_ready"
    talk.choose(second, "declined")
    retry = talk.choose(first, "approved").json
    assert (retry["state"], retry["changed"], retry["submit"]) == ("declined", False, None)
    later = talk.ask(userRef="u1").json
    assert later["state"] == "declined"
    assert talk.choose(later, "approved").json["state"] == "answer_ready"


def test_a_no_of_nobody_in_particular_counts_for_this_use(talk: Talk) -> None:
    request, other = talk.ask().json, talk.ask().json
    talk.answer(request, item())
    assert talk.known(interactionId=request["interactionId"]) == {"travel.stay_style": "quiet_boutique"}
    assert talk.choose(request, "declined").json["changed"] is True
    assert talk.known(interactionId=request["interactionId"]) == {}
    assert talk.answer(request, item()).status_code == 403
    assert talk.inspect(other).json["state"] == "answer_ready"
    assert talk.choose(request, "declined").json["changed"] is False
    assert talk.choose(request, "approved").json["state"] == "answer_ready"


def test_what_may_be_remembered_is_narrowed_and_never_widened(talk: Talk, clock: Clock) -> None:
    request = talk.ask(userRef="u1").json
    talk.answer(request, item(remember=True))
    narrowed = talk.choose(request, "approved", remember=False).json
    assert (narrowed["state"], narrowed["changed"]) == ("answered", True)
    assert talk.known(userRef="u1") == {}
    assert talk.known(interactionId=request["interactionId"]) == {"travel.stay_style": "quiet_boutique"}
    clock.advance(hours=2)
    assert talk.known(interactionId=request["interactionId"]) == {}
    fresh = talk.ask(userRef="u1", remember=False).json
    widened = talk.choose(fresh, "approved", remember=True)
    assert (widened.status_code, widened.json["errors"][0]["code"]) == (422, "remember_not_allowed")


@pytest.mark.parametrize("body", [{}, {"decision": "maybe"}, {"decision": 1}, {"decision": "approved", "remember": 1}])
def test_a_choice_that_is_none_is_refused(talk: Talk, body: dict[str, Any]) -> None:
    request = talk.ask(userRef="u1").json
    assert talk.post("/enrichment/consent/decisions", body, handle(request)).status_code == 422


def test_a_no_and_answers_at_the_same_instant_leave_nothing_behind(app: Flask, company: Company) -> None:
    talk = Talk(app.test_client(), company)
    requests = [talk.ask(userRef="u1").json for _ in range(12)]
    start = threading.Barrier(12)

    def work(number: int) -> int:
        own_talk = Talk(app.test_client(), company)
        start.wait()
        if number == 5:
            return int(own_talk.choose(requests[number], "declined").status_code)
        return int(own_talk.answer(requests[number], item(remember=True)).status_code)

    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(work, range(12)))
    assert set(statuses) <= {200, 403}
    assert count_signals() == 0
    assert talk.known(userRef="u1") == {}
