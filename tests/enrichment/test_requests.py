"""Enrichment requests: the response holds all that an agent needs, and a retry gets the same request."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.customers.models import Customer
from app.enrichment.models import EnrichmentRequest
from app.interactions import service as interactions
from app.products import service as products
from app.products.rules import KeyKind
from app.retention import service as retention
from app.telemetry import persistence
from tests.context_api import ADVERTISING, PERSONALIZATION, Clock, ContextApi, handle, item
from tests.factories import Company, create_company, event, send_events

INTERACTION = "018f1f2e-7b4a-4c12-9c8d-123456789abc"
HANDLE = r"^aqr1_[0-9a-f]{32}\.[A-Za-z0-9_-]{43}$"


def count(model: Any) -> int:
    with transaction():
        return session().execute(select(func.count()).select_from(model)).scalar_one()


def interaction(company: Company, interaction_id: str) -> dict[str, Any] | None:
    with transaction():
        return interactions.find_interaction(company.environment_id, uuid.UUID(interaction_id))


def test_the_first_response_is_ready_to_be_answered(context_api: ContextApi) -> None:
    request = context_api.ask(
        interactionId=INTERACTION, userRef="u1", operation="/hotels", statusCode=200, durationMs=12.5
    )
    assert request.status_code == 200, request.data
    body = request.json
    assert request.headers["Cache-Control"] == "private, no-store"
    assert (body["interactionId"], body["state"], body["purpose"]) == (INTERACTION, "answer_ready", PERSONALIZATION)
    assert (body["surface"], body["identityLevel"], body["question"]) == ("http_json", "verified", None)
    submit = body["submit"]
    assert (submit["url"], submit["method"]) == ("http://127.0.0.1:8000/api/v2/enrichment/answers", "POST")
    assert submit["authorization"] == body["consent"]["authorization"]
    assert body["consent"]["url"] == "http://127.0.0.1:8000/api/v2/enrichment/consent/decisions"
    assert body["consent"]["bodySchema"] == {"decision": ["approved", "declined"]}
    schema = submit["bodySchema"]
    assert schema["status"] == ["answered", "declined", "no_relevant_context"]
    assert schema["items"]["maximum"] == 8
    assert schema["items"]["required"] == ["key", "type", "value", "provenance"]
    assert schema["items"]["catalogVersion"] == "v1"
    assert schema["items"]["catalog"] == schema["catalog"]
    assert len(schema["catalog"]) == 21
    constraints = body["constraints"]
    assert constraints["handlerOwner"] == "Example product"
    assert constraints["catalog"]["version"] == "v1"
    assert constraints["retention"] == {
        "rememberAllowed": True,
        "rememberSelected": True,
        "rememberedMaxDays": 90,
        "unrememberedExpiresAt": body["expiresAt"],
    }
    assert body["stageInstruction"]
    assert body["answerInstruction"]


@pytest.mark.parametrize("surface", ["http_json", "html", "mcp"])
def test_a_request_stores_its_interaction_and_mcp_confirms_it_at_once(context_api: ContextApi, surface: str) -> None:
    request = context_api.ask(
        surface=surface, operation="/hotels/:id", statusCode=200, durationMs=3, runtimeHint="agent/1.0"
    )
    row = interaction(context_api.company, request.json["interactionId"])
    assert row
    is_mcp = surface == "mcp"
    assert row["surface"] == {"html": "http_html"}.get(surface, surface)
    assert (row["operation"], row["status_code"], row["runtime_hint"]) == ("/hotels/:id", 200, "agent/1.0")
    assert (row["classification"], row["confirmed_by"]) == (("confirmed", "mcp") if is_mcp else ("unclassified", None))


def test_the_contact_address_of_the_calling_software_is_stored_as_given(context_api: ContextApi) -> None:
    hint = "ClaudeBot/1.0; +claudebot@anthropic.com"
    row = interaction(context_api.company, context_api.ask(runtimeHint=hint).json["interactionId"])
    assert row
    assert row["runtime_hint"] == hint


def test_telemetry_and_a_request_complete_each_other(context_api: ContextApi) -> None:
    context_api.ask(interactionId=INTERACTION, operation="/hotels")
    send_events(context_api.client, context_api.company, event(INTERACTION, operation="/other", statusCode=204))
    from_telemetry = str(uuid.uuid4())
    send_events(context_api.client, context_api.company, event(from_telemetry, operation="/orders"))
    persistence.persist_waiting_batches()
    context_api.ask(interactionId=from_telemetry, operation="/hotels", statusCode=201, surface="mcp")
    first, second = interaction(context_api.company, INTERACTION), interaction(context_api.company, from_telemetry)
    assert first
    assert second
    assert (first["operation"], first["status_code"], first["occurred_at"] is not None) == ("/hotels", 204, True)
    assert (second["operation"], second["status_code"], second["classification"]) == ("/orders", 201, "unclassified")


def test_an_operation_without_a_field_asks_for_nothing_and_stores_nothing(context_api: ContextApi) -> None:
    context_api.put_field("trip.pace", operations=["/elsewhere"])
    request = context_api.ask(interactionId=INTERACTION, userRef="u1", surface="mcp")
    assert request.status_code == 200
    members = {name: request.json[name] for name in ("requestId", "consent", "submit", "expiresAt", "state")}
    assert members == {
        "requestId": None,
        "consent": None,
        "submit": None,
        "expiresAt": None,
        "state": "no_relevant_context",
    }
    assert (count(EnrichmentRequest), count(Customer), interaction(context_api.company, INTERACTION)) == (0, 0, None)


def test_advertising_is_offered_only_what_is_safe_for_it(context_api: ContextApi) -> None:
    request = context_api.ask(purpose=ADVERTISING).json
    assert all(entry["targetedAdvertisingSafe"] for entry in request["submit"]["bodySchema"]["catalog"])
    assert len(request["constraints"]["allowedFields"]) == 7


def test_a_retry_gets_the_identical_handle_whatever_was_measured_anew(
    context_api: ContextApi, company: Company
) -> None:
    details = {"interactionId": INTERACTION, "userRef": "u1", "fieldKeys": ["travel.stay_style", "content.format"]}
    first = context_api.ask(**details, durationMs=12, requestObservation={"method": "GET"})
    retry = context_api.ask(
        **{**details, "fieldKeys": ["content.format", "travel.stay_style"]},
        durationMs=99.5,
        statusCode=503,
        runtimeHint="other/2",
        requestObservation={"method": "POST", "clientIp": "192.0.2.7"},
    )
    assert retry.data == first.data
    with transaction():
        key_id = company.company_key.split("_")[2]
        rotated_key = products.rotate_key(key_id, 0).text
    second_retry = context_api.post("/enrichment/requests", {**details, **_basics()}, rotated_key)
    assert second_retry.data == first.data
    assert context_api.inspect(first.json).status_code == 200
    context_api.answer(first.json, item())
    assert context_api.post("/enrichment/requests", {**details, **_basics()}, rotated_key).json["state"] == "answered"


def _basics() -> dict[str, Any]:
    return {"operation": "/search", "surface": "http_json", "purpose": PERSONALIZATION, "remember": True}


@pytest.mark.parametrize(
    "change",
    [
        {"fieldKeys": ["travel.stay_style"]},
        {"fieldKeys": None},
        {"operation": "/other"},
        {"purpose": ADVERTISING},
        {"surface": "html"},
        {"remember": False},
        {"userRef": "u2"},
        {"userRef": None},
        {"accountRef": "a1"},
        {"sessionRef": "s2"},
    ],
)
def test_a_changed_retry_conflicts(context_api: ContextApi, change: dict[str, Any]) -> None:
    details = {"interactionId": INTERACTION, "userRef": "u1", "fieldKeys": ["content.format"], "sessionRef": "s1"}
    first = context_api.ask(**details)
    conflict = context_api.ask(**{**details, **change})
    assert (conflict.status_code, conflict.json["code"]) == (409, "request_changed")
    assert context_api.ask(**details).data == first.data
    assert count(Customer) == 1


def test_an_interaction_asks_once_even_after_its_request_has_gone(context_api: ContextApi, clock: Clock) -> None:
    first = context_api.ask(interactionId=INTERACTION, userRef="u1").json
    clock.advance(seconds=7199)
    assert context_api.ask(interactionId=INTERACTION, userRef="u1").json == first
    clock.advance(seconds=1)
    assert context_api.ask(interactionId=INTERACTION, userRef="u1").json["code"] == "request_expired"
    assert context_api.inspect(first).status_code == 401
    clock.advance(seconds=1)
    retention.expire_enrichment()
    assert count(EnrichmentRequest) == 0
    assert context_api.ask(interactionId=INTERACTION, userRef="u1").json["code"] == "request_expired"


def test_fifty_calls_at_once_make_one_request(app: Flask, company: Company) -> None:
    start = threading.Barrier(50)

    def work(number: int) -> Any:
        start.wait()
        return (
            ContextApi(app.test_client(), company).ask(interactionId=INTERACTION, userRef="u1", durationMs=number).data
        )

    with ThreadPoolExecutor(50) as pool:
        bodies = set(pool.map(work, range(50)))
    assert len(bodies) == 1
    assert (count(EnrichmentRequest), count(Customer)) == (1, 1)


@pytest.mark.parametrize("address", ["192.0.2.7", "255.255.255.255", "2001:db8::1", "::ffff:192.0.2.7"])
def test_an_address_of_either_version_is_accepted(context_api: ContextApi, address: str) -> None:
    assert context_api.ask(requestObservation={"clientIp": address}).status_code == 200


@pytest.mark.parametrize("is_purged", [False, True])
def test_an_expired_handle_says_so_whether_or_not_its_request_is_stored(
    context_api: ContextApi, clock: Clock, *, is_purged: bool
) -> None:
    request = context_api.ask(userRef="u1").json
    clock.advance(seconds=7200)
    if is_purged:
        clock.advance(seconds=1)
        retention.expire_enrichment()
    for response in (
        context_api.inspect(request),
        context_api.answer(request, item()),
        context_api.choose(request, "declined"),
    ):
        assert (response.status_code, response.json["code"]) == (401, "handle_expired")


def test_a_forged_handle_is_not_called_expired(context_api: ContextApi, clock: Clock) -> None:
    token = handle(context_api.ask().json)
    clock.advance(seconds=7200)
    forged_token = token[:-2] + ("AA" if token[-2:] != "AA" else "BA")
    response = context_api.post("/enrichment/answers", {"status": "declined"}, forged_token)
    assert (response.status_code, response.json["code"]) == (401, "unauthorized")


def test_a_handle_is_accepted_by_its_own_endpoints_alone(context_api: ContextApi, company: Company) -> None:
    request = context_api.ask().json
    token = handle(request)
    assert context_api.inspect(request).json == request
    for path in ("/enrichment/requests", "/customer-context", "/outcomes", "/capabilities/introspect"):
        assert context_api.post(path, {}, token).status_code == 401, path
    forged_token = token[:-1] + ("A" if token[-1] != "A" else "B")
    other_handle = "aqr1_" + uuid.uuid4().hex + token[37:]
    for token_text in (
        company.capability(),
        company.company_key,
        forged_token,
        other_handle,
        token.upper(),
        token + "=",
    ):
        assert context_api.post("/enrichment/answers", {"status": "declined"}, token_text).status_code == 401, (
            token_text
        )


def test_a_revoked_key_ends_its_handles(app: Flask, context_api: ContextApi, company: Company) -> None:
    request = context_api.ask().json
    with transaction():
        products.revoke_key(company.company_key.split("_")[2])
    app.extensions["key_cache"].clear()
    assert context_api.inspect(request).status_code == 401
    assert context_api.answer(request, item()).status_code == 401


def test_the_same_interaction_of_another_environment_is_another_request(
    client: FlaskClient, context_api: ContextApi
) -> None:
    with transaction():
        other_api = ContextApi(client, create_company())
    first, second = context_api.ask(interactionId=INTERACTION).json, other_api.ask(interactionId=INTERACTION).json
    assert first["requestId"] != second["requestId"]


def test_a_product_key_with_the_company_right_asks_too(context_api: ContextApi, company: Company) -> None:
    with transaction():
        product_key = products.create_key(company.environment_id, KeyKind.PRODUCT, has_company_right=True).text
    assert (
        context_api.post("/enrichment/requests", {"interactionId": INTERACTION, **_basics()}, product_key).status_code
        == 200
    )
    assert context_api.post("/customer-context", {}, company.product_key).status_code == 401


def test_the_handle_ends_two_hours_after_the_request_was_made(context_api: ContextApi, clock: Clock) -> None:
    request = context_api.ask().json
    ends_at = datetime.fromisoformat(request["expiresAt"])
    assert (ends_at - clock.now).total_seconds() == 7200
