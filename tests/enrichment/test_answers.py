"""Answering: the catalog is the only vocabulary, and one answer stays."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.enrichment.models import Signal
from app.interactions import service as interactions
from tests.context_api import ADVERTISING, STATEMENT, Clock, ContextApi, handle, item
from tests.factories import Company, bearer

INFERENCE = "agent_inference"


def count_signals() -> int:
    with transaction():
        return session().execute(select(func.count()).select_from(Signal)).scalar_one()


def test_an_answer_is_receipted_and_confirms_its_interaction(context_api: ContextApi, clock: Clock) -> None:
    request = context_api.ask(userRef="u1").json
    receipt = context_api.answer(request, item(confidence=0.5, remember=True))
    assert receipt.status_code == 200, receipt.data
    body = receipt.json
    (signal,) = body.pop("signals")
    assert body == {
        "accepted": True,
        "requestId": request["requestId"],
        "interactionId": request["interactionId"],
        "state": "answered",
    }
    assert uuid.UUID(signal.pop("signalId"))
    assert signal == {
        "key": "travel.stay_style",
        "type": "preference",
        "value": "quiet_boutique",
        "summary": "Preferred style of stay: quiet boutique",
        "provenance": STATEMENT,
        "confidence": 0.5,
        "allowedUses": ["product_personalization"],
        "remembered": True,
        "expiresAt": (clock.now + timedelta(days=90)).isoformat().replace("+00:00", "Z"),
    }
    interactions.promote_queued_interactions()
    with transaction():
        row = interactions.find_interaction(context_api.company.environment_id, uuid.UUID(request["interactionId"]))
    assert row
    assert (row["classification"], row["confirmed_by"]) == ("confirmed", "answer")


@pytest.mark.parametrize("status", ["answered", "declined", "no_relevant_context"])
def test_a_replay_gets_the_same_bytes_and_a_change_conflicts(context_api: ContextApi, status: str) -> None:
    request = context_api.ask(userRef="u1").json
    items = [item(confidence=1, expiresAt="2031-01-01T00:00:00+01:00")] if status == "answered" else []
    first = context_api.answer(request, *items, status=status)
    assert first.status_code == 200, first.data
    assert first.json["state"] == status
    assert context_api.answer(request, *items, status=status).data == first.data
    conflict = context_api.answer(request, item(value="business"))
    assert conflict.status_code == (403 if status == "declined" else 409)
    other_response = context_api.answer(request, status="no_relevant_context" if status == "answered" else "declined")
    assert other_response.status_code == {"answered": 409, "declined": 200, "no_relevant_context": 409}[status]
    assert count_signals() == len(items)


def test_a_replay_stays_the_same_after_a_signal_has_expired(context_api: ContextApi, clock: Clock) -> None:
    request = context_api.ask(userRef="u1").json
    expiry = (clock.now + timedelta(minutes=5)).isoformat()
    first = context_api.answer(request, item(expiresAt=expiry))
    clock.advance(minutes=30)
    assert context_api.answer(request, item(expiresAt=expiry)).data == first.data


def test_fifty_answers_at_once_store_one(app: Flask, company: Company) -> None:
    request, start = ContextApi(app.test_client(), company).ask(userRef="u1").json, threading.Barrier(50)

    def work(number: int) -> Any:
        start.wait()
        value = "business" if number % 2 else "social"
        return ContextApi(app.test_client(), company).answer(request, item(value=value))

    with ThreadPoolExecutor(50) as pool:
        responses = list(pool.map(work, range(50)))
    accepted = {response.data for response in responses if response.status_code == 200}
    assert len(accepted) == 1
    assert sum(response.status_code == 200 for response in responses) == 25
    assert sum(response.status_code == 409 for response in responses) == 25
    assert count_signals() == 1


@pytest.mark.parametrize(
    ("details", "pointer", "code"),
    [
        ({"key": "travel.unknown"}, "/items/0/key", "unknown_catalog_entry"),
        ({"value": "castle"}, "/items/0/value", "unknown_catalog_entry"),
        ({"type": "constraint"}, "/items/0/type", "unknown_catalog_entry"),
        ({"key": "content.format", "value": "audio"}, "/items/0/key", "unknown_catalog_entry"),
        ({"provenance": "agent_guesses"}, "/items/0/provenance", "enum"),
        ({"confidence": 1.1}, "/items/0/confidence", "range"),
        ({"confidence": "high"}, "/items/0/confidence", "type"),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, "/items/0/expiresAt", "in_the_past"),
        ({"expiresAt": "2031-01-01T00:00:00"}, "/items/0/expiresAt", "format"),
        ({"remember": True, "provenance": INFERENCE}, "/items/0/remember", "remember_not_allowed"),
        ({"remember": None}, "/items/0/remember", "type"),
    ],
)
def test_an_item_that_does_not_fit_is_refused(
    context_api: ContextApi, details: dict[str, Any], pointer: str, code: str
) -> None:
    request = context_api.ask(userRef="u1", fieldKeys=["travel.stay_style", "travel.room_priority"]).json
    error_response = context_api.answer(request, item(**details))
    assert error_response.status_code == 422, error_response.data
    assert (pointer, code) in [(problem["pointer"], problem["code"]) for problem in error_response.json["errors"]]
    assert count_signals() == 0
    assert context_api.inspect(request).json["state"] == "answer_ready"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"status": "answered", "items": []}, 422),
        ({"status": "answered"}, 422),
        ({"status": "declined", "items": [item()]}, 422),
        ({"status": "no_relevant_context", "items": [item()]}, 422),
        ({"status": "answered", "items": [item(), item(value="business")]}, 422),
        ({"status": "answered", "items": [item()] * 9}, 422),
        ({"status": "maybe", "items": []}, 422),
        ({"items": []}, 422),
        ({"status": "answered", "items": [item(note="because")]}, 400),
        ({"status": "answered", "items": [item()], "transcript": "x"}, 400),
        ({"status": "answered", "items": [{**item(), "value": {"a": 1}}]}, 400),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(context_api: ContextApi, body: dict[str, Any], status: int) -> None:
    request = context_api.ask(userRef="u1").json
    assert context_api.post("/enrichment/answers", body, handle(request)).status_code == status
    assert count_signals() == 0


def test_no_items_at_all_is_as_good_as_an_empty_list(context_api: ContextApi) -> None:
    request = context_api.ask(userRef="u1").json
    first = context_api.post("/enrichment/answers", {"status": "no_relevant_context"}, handle(request))
    assert context_api.answer(request, status="no_relevant_context").data == first.data


def test_remembering_needs_a_request_that_says_so_and_somebody_to_remember(context_api: ContextApi) -> None:
    for details in ({"userRef": "u1", "remember": False}, {"remember": True}):
        request = context_api.ask(**details).json
        assert request["constraints"]["retention"]["rememberSelected"] is False
        error_response = context_api.answer(request, item(remember=True))
        assert error_response.json["errors"][0]["code"] == "remember_not_allowed"
        assert context_api.answer(request, item()).status_code == 200


def test_what_lasts_too_long_is_cut_to_the_retention_or_to_the_request(context_api: ContextApi, clock: Clock) -> None:
    request = context_api.ask(userRef="u1").json
    expiry = (clock.now + timedelta(days=4000)).isoformat()
    signals = context_api.answer(
        request,
        item(expiresAt=expiry, remember=True),
        item("travel.room_priority", "quiet", expiresAt=expiry),
        item("content.format", "audio", expiresAt=(clock.now + timedelta(minutes=3)).isoformat()),
    ).json["signals"]
    expiries = [signal["expiresAt"] for signal in signals]
    expected = [clock.now + timedelta(days=90), clock.now + timedelta(hours=2), clock.now + timedelta(minutes=3)]
    assert expiries == [end.isoformat().replace("+00:00", "Z") for end in expected]


def test_an_inference_never_comes_back_as_a_fact(context_api: ContextApi) -> None:
    first = context_api.ask(userRef="u1").json
    context_api.answer(first, item(value="business", remember=True))
    request = context_api.ask(userRef="u1").json
    (signal,) = context_api.answer(request, item(value="social", provenance=INFERENCE)).json["signals"]
    assert (signal["allowedUses"], signal["remembered"]) == ([], False)
    assert context_api.context_values(interactionId=request["interactionId"]) == {}
    assert context_api.context_values(userRef="u1", interactionId=request["interactionId"]) == {
        "travel.stay_style": "business"
    }


def test_advertising_takes_only_what_is_safe_for_it(context_api: ContextApi) -> None:
    request = context_api.ask(userRef="u1", purpose=ADVERTISING).json
    error_response = context_api.answer(request, item())
    assert error_response.json["errors"][0] == {
        "pointer": "/items/0/key",
        "code": "not_advertising_safe",
        "message": "This may not be used for advertising.",
    }
    business = item("b2b.company_size", "solo", type="constraint")
    assert context_api.answer(request, business).json["errors"][0]["code"] == "not_advertising_safe"
    assert context_api.answer(request, item("content.format", "audio", remember=True)).status_code == 200
    assert context_api.context_values(userRef="u1") == {}
    assert context_api.context_values(ADVERTISING, userRef="u1") == {"content.format": "audio"}


def test_what_is_told_anew_takes_the_place_of_what_was_remembered(context_api: ContextApi, clock: Clock) -> None:
    first = context_api.ask(userRef="u1").json
    context_api.answer(first, item(remember=True), item("content.format", "audio", remember=True))
    clock.advance(minutes=1)
    ends_at = clock.now + timedelta(minutes=10)
    context_api.answer(
        context_api.ask(userRef="u1").json, item(value="social", remember=True, expiresAt=ends_at.isoformat())
    )
    assert context_api.context_values(userRef="u1") == {"travel.stay_style": "social", "content.format": "audio"}
    assert context_api.context_values(interactionId=first["interactionId"])["travel.stay_style"] == "quiet_boutique"
    clock.now = ends_at
    assert context_api.context_values(userRef="u1") == {"content.format": "audio"}


def test_what_is_for_advertising_says_so(context_api: ContextApi) -> None:
    personal, advertising = context_api.ask().json, context_api.ask(purpose=ADVERTISING).json
    assert "advertising" not in personal["stageInstruction"] + personal["answerInstruction"]
    assert "advertising" in advertising["stageInstruction"]
    assert "clearly agreed" in advertising["stageInstruction"]


def test_an_answer_needs_a_handle(client: FlaskClient, company: Company) -> None:
    for headers in ({}, bearer("aqr1_"), bearer(company.capability())):
        error_response = client.post("/api/v2/enrichment/answers", json={"status": "declined"}, headers=headers)
        assert (error_response.status_code, error_response.headers["WWW-Authenticate"]) == (401, "Bearer")
