"""The user's choice, and what a no takes away."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.enrichment.models import Signal
from tests.context_api import ADVERTISING, Clock, ContextApi, handle, item
from tests.factories import Company


def count_signals() -> int:
    with transaction():
        return session().execute(select(func.count()).select_from(Signal)).scalar_one()


@pytest.mark.parametrize("refusal", ["answer", "choice"])
def test_a_no_counts_at_once_and_everywhere_until_a_yes(context_api: ContextApi, refusal: str) -> None:
    remembered, open_request, refusal_request = (context_api.ask(userRef="u1").json for _ in range(3))
    advertised = context_api.ask(userRef="u1", purpose=ADVERTISING).json
    context_api.answer(remembered, item(remember=True))
    context_api.answer(advertised, item("content.format", "audio", remember=True))
    assert context_api.context_values(userRef="u1") == {"travel.stay_style": "quiet_boutique"}
    declined = (
        context_api.answer(refusal_request, status="declined")
        if refusal == "answer"
        else context_api.choose(refusal_request, "declined")
    )
    assert (declined.status_code, declined.json["state"]) == (200, "declined")
    assert context_api.context_values(userRef="u1") == {}
    assert context_api.context_values(userRef="u1", interactionId=remembered["interactionId"]) == {}
    assert context_api.context_values(interactionId=remembered["interactionId"]) == {}
    for request in (remembered, open_request):
        assert context_api.inspect(request).json["state"] == "declined"
        assert context_api.inspect(request).json["submit"] is None
        assert context_api.answer(request, item(remember=True)).json["code"] == "opted_out"
    later_request = context_api.ask(userRef="u1").json
    assert (later_request["state"], later_request["submit"]) == ("declined", None)
    assert context_api.answer(later_request, item()).status_code == 403
    assert context_api.context_values(ADVERTISING, userRef="u1") == {"content.format": "audio"}
    approved = context_api.choose(later_request, "approved").json
    assert (approved["state"], approved["changed"]) == ("answer_ready", True)
    assert approved["submit"]["authorization"] == f"Bearer {handle(later_request)}"
    assert context_api.context_values(userRef="u1") == {}
    assert context_api.answer(later_request, item(value="social", remember=True)).status_code == 200
    assert context_api.context_values(userRef="u1") == {"travel.stay_style": "social"}
    assert context_api.ask(userRef="u1").json["state"] == "answer_ready"


def test_a_delayed_yes_does_not_lift_a_newer_no(context_api: ContextApi) -> None:
    first, second = context_api.ask(userRef="u1").json, context_api.ask(userRef="u1").json
    assert context_api.choose(first, "approved").json["state"] == "answer_ready"
    context_api.choose(second, "declined")
    retry = context_api.choose(first, "approved").json
    assert (retry["state"], retry["changed"], retry["submit"]) == ("declined", False, None)
    later_request = context_api.ask(userRef="u1").json
    assert later_request["state"] == "declined"
    assert context_api.choose(later_request, "approved").json["state"] == "answer_ready"


def test_a_no_of_nobody_in_particular_counts_for_this_use(context_api: ContextApi) -> None:
    request, other_request = context_api.ask().json, context_api.ask().json
    context_api.answer(request, item())
    assert context_api.context_values(interactionId=request["interactionId"]) == {"travel.stay_style": "quiet_boutique"}
    assert context_api.choose(request, "declined").json["changed"] is True
    assert context_api.context_values(interactionId=request["interactionId"]) == {}
    assert context_api.answer(request, item()).status_code == 403
    assert context_api.inspect(other_request).json["state"] == "answer_ready"
    assert context_api.choose(request, "declined").json["changed"] is False
    assert context_api.choose(request, "approved").json["state"] == "answer_ready"


def test_what_may_be_remembered_is_narrowed_and_never_widened(context_api: ContextApi, clock: Clock) -> None:
    request = context_api.ask(userRef="u1").json
    context_api.answer(request, item(remember=True))
    choice = context_api.choose(request, "approved", remember=False).json
    assert (choice["state"], choice["changed"]) == ("answered", True)
    assert context_api.context_values(userRef="u1") == {}
    assert context_api.context_values(interactionId=request["interactionId"]) == {"travel.stay_style": "quiet_boutique"}
    clock.advance(hours=2)
    assert context_api.context_values(interactionId=request["interactionId"]) == {}
    new_request = context_api.ask(userRef="u1", remember=False).json
    second_choice = context_api.choose(new_request, "approved", remember=True)
    assert (second_choice.status_code, second_choice.json["errors"][0]["code"]) == (422, "remember_not_allowed")


@pytest.mark.parametrize("body", [{}, {"decision": "maybe"}, {"decision": 1}, {"decision": "approved", "remember": 1}])
def test_a_choice_that_is_none_is_refused(context_api: ContextApi, body: dict[str, Any]) -> None:
    request = context_api.ask(userRef="u1").json
    assert context_api.post("/enrichment/consent/decisions", body, handle(request)).status_code == 422


def test_a_no_and_answers_at_the_same_instant_leave_nothing_behind(app: Flask, company: Company) -> None:
    context_api = ContextApi(app.test_client(), company)
    requests = [context_api.ask(userRef="u1").json for _ in range(12)]
    start = threading.Barrier(12)

    def work(number: int) -> int:
        own_context_api = ContextApi(app.test_client(), company)
        start.wait()
        if number == 5:
            return int(own_context_api.choose(requests[number], "declined").status_code)
        return int(own_context_api.answer(requests[number], item(remember=True)).status_code)

    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(work, range(12)))
    assert set(statuses) <= {200, 403}
    assert count_signals() == 0
    assert context_api.context_values(userRef="u1") == {}
