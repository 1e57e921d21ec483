"""The company's calls for customer context, as the service receives them."""

import json
import logging
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from agent_feedback import (
    Context,
    ContextItem,
    ContextRequest,
    CustomerContext,
    CustomerReferences,
    FieldDefinition,
    InvalidOption,
    Observation,
    ServiceRefused,
    ServiceUnavailable,
)
from agent_feedback.keys import CompanyKey

from tests.sdk.endpoint import COMPANY_KEY, KEY, Endpoint
from tests.sdk.shop import CompanyClient, context_action, json_reply
from tests.sdk.site import Client

INTERACTION = "018f1f2e-7b4a-4c12-9c8d-123456789abc"
REQUEST_ARGUMENTS = {"interaction_id": INTERACTION, "surface": "http_json"}
ITEM = {
    "signalId": "s1",
    "key": "shopping.priority",
    "type": "preference",
    "value": "price",
    "summary": "What matters most in a purchase: price.",
    "provenance": "agent_reports_user_statement",
    "confidence": 0.9,
    "allowedUses": ["product_personalization"],
    "remembered": True,
    "expiresAt": "2030-01-01T00:00:00Z",
}
GUESS = {**ITEM, "signalId": "s2", "key": "shop.size", "allowedUses": [], "confidence": None}
RETRIEVAL = {
    "retrievalId": "r1",
    "identityLevel": "verified",
    "contextVersion": "ctx1_x",
    "interactionId": None,
    "items": [ITEM, GUESS],
}


@pytest.fixture
def context(endpoint: Endpoint) -> Iterator[CustomerContext]:
    client = CustomerContext(COMPANY_KEY, endpoint=endpoint.url, timeout=10)
    yield client
    client.close()


def test_an_enrichment_request_has_the_members_of_the_contract(endpoint: Endpoint, context: CustomerContext) -> None:
    endpoint.default_reply = json_reply(context_action(endpoint.url))
    result = context.request_enrichment(
        ContextRequest(
            "targeted_advertising",
            remember=True,
            customer=CustomerReferences("user_1", "account_1", "visitor_1"),
            field_keys=("shopping.priority",),
            operation="/products",
        ),
        **REQUEST_ARGUMENTS,
        observation=Observation(200, 1.5, "s", "an-agent/1", {"method": "GET"}),
    )
    assert result == context_action(endpoint.url)
    (request,) = endpoint.requests
    assert (request.method, request.path) == ("POST", "/api/v2/enrichment/requests")
    assert request.headers["Authorization"] == f"Bearer {COMPANY_KEY}"
    assert request.content == {
        "interactionId": INTERACTION,
        "operation": "/products",
        "surface": "http_json",
        "purpose": "targeted_advertising",
        "remember": True,
        "userRef": "user_1",
        "accountRef": "account_1",
        "anonymousRef": "visitor_1",
        "fieldKeys": ["shopping.priority"],
        "statusCode": 200,
        "durationMs": 1.5,
        "sessionRef": "s",
        "runtimeHint": "an-agent/1",
        "requestObservation": {"method": "GET"},
    }


def test_what_is_not_known_is_left_out(endpoint: Endpoint, context: CustomerContext) -> None:
    endpoint.default_reply = json_reply(context_action(endpoint.url))
    context.request_enrichment(ContextRequest("p", operation="/products"), **REQUEST_ARGUMENTS)
    assert endpoint.requests[0].content.keys() == {"interactionId", "operation", "surface", "purpose", "remember"}


def test_a_context_is_typed_and_offers_only_what_may_be_used(endpoint: Endpoint, context: CustomerContext) -> None:
    endpoint.default_reply = json_reply(RETRIEVAL)
    result = context.context(purpose="p", customer=CustomerReferences("user_1"), interaction_id=INTERACTION)
    assert result.items[0] == ContextItem(
        "s1",
        "shopping.priority",
        "preference",
        "price",
        "What matters most in a purchase: price.",
        "agent_reports_user_statement",
        0.9,
        ("product_personalization",),
        True,
        "2030-01-01T00:00:00Z",
    )
    assert (result.retrieval_id, result.identity_level, result.context_version) == ("r1", "verified", "ctx1_x")
    assert result
    assert result.signal_ids == ["s1", "s2"]
    assert result.value("shopping.priority") == "price"
    # The agent only inferred it.
    assert result.value("shop.size") is None
    assert result.value("unknown.key") is None
    assert endpoint.requests[0].content == {"purpose": "p", "userRef": "user_1", "interactionId": INTERACTION}


def test_an_interaction_is_enough_where_nobody_is_named(endpoint: Endpoint, context: CustomerContext) -> None:
    endpoint.default_reply = json_reply({**RETRIEVAL, "items": []})
    assert not context.context(purpose="p", interaction_id=INTERACTION)
    assert endpoint.requests[0].content == {"purpose": "p", "interactionId": INTERACTION}


def test_nobody_is_not_asked_about(endpoint: Endpoint, context: CustomerContext) -> None:
    assert context.context(purpose="p", customer=CustomerReferences(None), interaction_id=None) == Context()
    assert not endpoint.requests


def test_a_decision_and_its_outcome_are_recorded(endpoint: Endpoint, context: CustomerContext) -> None:
    endpoint.replies = [json_reply({"decision": {"id": "d1"}}), json_reply({"outcome": {"id": "o1"}})]
    decision = context.record_decision(
        external_decision_id="e1", context_retrieval_id="r1", signal_ids=("s1",), variant="by_price"
    )
    assert decision == {"id": "d1"}
    outcome = context.record_outcome(external_outcome_id="e2", decision_id="d1", outcome="conversion")
    assert outcome == {"id": "o1"}
    assert [(request.path, request.content) for request in endpoint.requests] == [
        (
            "/api/v2/personalization/decisions",
            {"externalDecisionId": "e1", "contextRetrievalId": "r1", "signalIds": ["s1"], "variant": "by_price"},
        ),
        (
            "/api/v2/personalization/outcomes",
            {"externalOutcomeId": "e2", "decisionId": "d1", "outcome": "conversion"},
        ),
    ]


def test_without_a_retrieval_or_a_decision_nothing_is_recorded(endpoint: Endpoint, context: CustomerContext) -> None:
    empty = Context()
    assert (
        context.record_decision(
            external_decision_id="e1", context_retrieval_id=empty.retrieval_id, signal_ids=empty.signal_ids
        )
        is None
    )
    assert context.record_outcome(external_outcome_id="e2", decision_id=None, outcome="conversion") is None
    assert not endpoint.requests


def test_questions_are_put_listed_and_deleted(endpoint: Endpoint, context: CustomerContext) -> None:
    endpoint.default_reply = json_reply({"key": "shop.size"})
    fields = context.fields
    fields.put("shop.size", FieldDefinition("The size", "customer_size", ["small", "large"], enabled=False))
    assert fields.list() == {"key": "shop.size"}
    assert fields.delete("shop.size/..?") == {"key": "shop.size"}
    put_request, list_request, delete_request = endpoint.requests
    assert (put_request.method, put_request.path) == ("PUT", "/api/v2/enrichment/fields/shop.size")
    assert put_request.content == {
        "label": "The size",
        "type": "customer_size",
        "allowedValues": ["small", "large"],
        "enabled": False,
    }
    assert (list_request.method, list_request.path, list_request.body) == ("GET", "/api/v2/enrichment/fields", b"")
    assert (delete_request.method, delete_request.path) == ("DELETE", "/api/v2/enrichment/fields/shop.size%2F..%3F")


def test_calls_share_a_connection(endpoint: Endpoint, context: CustomerContext) -> None:
    endpoint.default_reply = json_reply(RETRIEVAL)
    for _ in range(5):
        context.context(purpose="p", customer=CustomerReferences("u"))
    assert (len(endpoint.requests), endpoint.connections) == (5, 1)


def test_threads_get_each_their_own_answer(endpoint: Endpoint, context: CustomerContext) -> None:
    endpoint.default_reply = json_reply(RETRIEVAL)
    result: list[Context] = []
    customer = CustomerReferences("u")
    threads = [
        threading.Thread(target=lambda: result.append(context.context(purpose="p", customer=customer)))
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [retrieval.retrieval_id for retrieval in result] == ["r1"] * 20


def test_a_fork_opens_connections_of_its_own(endpoint: Endpoint, context: CustomerContext) -> None:
    endpoint.default_reply = json_reply(RETRIEVAL)
    context.context(purpose="p", customer=CustomerReferences("parent"))
    child = os.fork()
    if not child:
        status = 1
        try:
            status = 0 if context.context(purpose="p", customer=CustomerReferences("child")) else 1
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert context.context(purpose="p", customer=CustomerReferences("parent"))
    assert endpoint.connections == 2


@pytest.mark.parametrize(
    "key", ["", "af_company_", COMPANY_KEY.upper(), COMPANY_KEY[:60], 12, b"af_company", f"{KEY} x"]
)
def test_a_malformed_key_is_refused_without_being_shown(key: Any) -> None:
    for make in (
        lambda: CustomerContext(key, endpoint="https://feedback.example.com"),
        lambda: Client(company_key=key),
    ):
        with pytest.raises(InvalidOption, match=r"^company_key \(or AGENT_FEEDBACK_COMPANY_KEY\)") as error:
            make()
        assert "conformance" not in str(error.value)
        assert error.value.__cause__ is None


def test_the_environment_gives_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_COMPANY_KEY", f" {COMPANY_KEY}\n")
    result = Client().options.company_key
    assert result
    assert result.reveal() == COMPANY_KEY
    monkeypatch.setenv("AGENT_FEEDBACK_COMPANY_KEY", "nonsense")
    with pytest.raises(InvalidOption, match="company_key"):
        Client()


def test_a_product_key_may_have_the_right_of_a_company_key() -> None:
    assert Client(company_key=KEY).options.company_key is not None


def test_a_client_by_itself_needs_a_key() -> None:
    with pytest.raises(InvalidOption, match="company_key"):
        CustomerContext(endpoint="https://feedback.example.com")


def test_a_key_does_not_show_itself() -> None:
    key = CompanyKey(COMPANY_KEY)
    for text in (repr(key), str(key), f"{key}", repr([key]), repr(Client(company_key=COMPANY_KEY).options)):
        assert "secret" not in text
        assert "af_company_0123456789abcdef0123456789abcdef_…" in text


def test_a_product_without_a_company_key_goes_on_without_context(caplog: pytest.LogCaptureFixture) -> None:
    feedback = Client()
    assert feedback.customer_context.context(purpose="p", customer=CustomerReferences("u")) == Context()
    assert feedback.customer_context.context(purpose="p", customer=CustomerReferences("u")) == Context()
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "AGENT_FEEDBACK_COMPANY_KEY" in caplog.text


def test_the_kill_switch_ends_every_call(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", "false")
    for context in (CompanyClient(endpoint.url).customer_context, CustomerContext(COMPANY_KEY, endpoint=endpoint.url)):
        assert context.context(purpose="p", customer=CustomerReferences("u")) == Context()
        assert context.fields.list() is None
        with pytest.raises(ServiceUnavailable, match="AGENT_FEEDBACK_ENABLED"):
            context.context(purpose="p", customer=CustomerReferences("u"), raise_errors=True)
    assert (endpoint.requests, caplog.records) == ([], [])


def test_a_conflict_can_be_told_from_an_outage(endpoint: Endpoint, context: CustomerContext) -> None:
    endpoint.default_reply = json_reply({"error": "This decision was recorded otherwise.", "code": "conflict"}, 409)
    arguments: dict[str, Any] = {"external_decision_id": "e", "context_retrieval_id": "r", "signal_ids": []}
    assert context.record_decision(**arguments) is None
    with pytest.raises(ServiceRefused) as error:
        context.record_decision(**arguments, raise_errors=True)
    assert (error.value.status, error.value.code) == (409, "conflict")
    assert json.loads(endpoint.requests[0].body) == json.loads(endpoint.requests[1].body)
