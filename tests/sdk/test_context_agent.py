"""An agent reads a product's question and answers it over the product's own origin."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import requests
from agent_feedback.agent import ContextAction, Received, from_response
from agent_feedback.agent import requests as agent_requests
from agent_feedback.errors import ServiceUnavailable

from tests.sdk.endpoint import Endpoint, Reply
from tests.sdk.shop import HANDLE, CompanyClient, context_action, json_reply, make_enrichment_app, serving_app
from tests.sdk.site import JSON

PRICE = {"key": "shopping.priority", "value": "price", "provenance": "agent_reports_user_statement"}
PAGE = b"<html><head><script id='agent-service-context-2'>{}</script></head><body>Shoes</body></html>"


@pytest.fixture(autouse=True)
def quick_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_requests, "RETRY_DELAY_S", 0.01)


@pytest.fixture(params=["json", "html"])
def shop_url(endpoint: Endpoint, request: pytest.FixtureRequest) -> Iterator[str]:
    """A product on an origin of its own, which asks with each response."""
    endpoint.default_reply = json_reply(context_action(endpoint.url))
    feedback = CompanyClient(endpoint.url)
    page = {"body": PAGE, "headers": [("Content-Type", "text/html")]} if request.param == "html" else {}
    with serving_app(feedback.wsgi(make_enrichment_app(feedback, **page))) as url:
        yield url


def visit(url: str) -> Received:
    actions = from_response(requests.get(f"{url}/products", timeout=10), allowed_origins=[])
    assert actions
    return actions


def receive(url: str = "https://shop.example.com/products", **changes: Any) -> Received:
    """Return a question as the product's response has it."""
    content = context_action("", **changes)
    for name, path in (("submit", "answers"), ("consent", "consent")):
        if content[name]:
            content[name].setdefault("url", "")
            content[name]["url"] = f"/_service/v1/enrichment/{path}"
    actions = from_response({"_service": {"customerContext": content}}, allowed_origins=[], url=url)
    assert actions
    return actions


def test_an_answer_goes_through_the_product_and_arrives(endpoint: Endpoint, shop_url: str) -> None:
    actions = visit(shop_url)
    assert actions.context
    assert actions.context.state == "answer_ready"
    assert actions.context.instruction.startswith("Please answer")
    assert [entry["key"] for entry in actions.context.catalog] == ["shopping.priority", "shop.size"]
    endpoint.default_reply = json_reply({"accepted": True, "state": "answered"})
    size = {"key": "shop.size", "value": "large", "provenance": "agent_inference", "confidence": 0.5, "remember": False}
    assert actions.answer([PRICE, size]) == {"accepted": True, "state": "answered"}
    _, request = endpoint.requests
    assert request.path == "/api/v2/enrichment/answers"
    assert request.headers["Authorization"] == f"Bearer {HANDLE}"
    # The canonical type comes from the catalog, whatever the product calls its category.
    expected = [{**PRICE, "type": "preference"}, {**size, "type": "preference"}]
    assert request.content == {"status": "answered", "items": expected}


def test_what_is_not_known_can_be_told_too(endpoint: Endpoint, shop_url: str) -> None:
    actions = visit(shop_url)
    endpoint.default_reply = json_reply({"accepted": True})
    actions.answer([], status="no_relevant_context")
    assert endpoint.requests[-1].content == {"status": "no_relevant_context", "items": []}


def test_a_refusal_goes_through_the_product_and_ends_the_question(endpoint: Endpoint, shop_url: str) -> None:
    actions = visit(shop_url)
    endpoint.default_reply = json_reply(
        {"state": "declined", "changed": True, "stageInstruction": "Thank you.", "submit": None}
    )
    assert actions.decline_context()["state"] == "declined"
    assert endpoint.requests[-1].path == "/api/v2/enrichment/consent/decisions"
    assert endpoint.requests[-1].content == {"decision": "declined"}
    with pytest.raises(ValueError, match="in the state declined"):
        actions.answer([PRICE])


def test_an_approval_brings_the_way_to_go_on(endpoint: Endpoint, shop_url: str) -> None:
    endpoint.default_reply = json_reply(context_action(endpoint.url, "declined"))
    actions = visit(shop_url)
    assert actions.context
    endpoint.default_reply = json_reply({"state": "answer_ready", "submit": context_action(endpoint.url)["submit"]})
    actions.context.decide("approved", remember=False)
    assert endpoint.requests[-1].content == {"decision": "approved", "remember": False}
    endpoint.default_reply = json_reply({"accepted": True})
    assert actions.answer([PRICE])["accepted"]


def test_the_immediate_repetition_names_its_interaction(endpoint: Endpoint, shop_url: str) -> None:
    actions = visit(shop_url)
    assert list(actions.retry_headers) == ["Service-Context-Interaction"]
    retry = requests.get(f"{shop_url}/products", headers=actions.retry_headers, timeout=10)
    assert b"customerContext" not in retry.content
    assert len(endpoint.requests) == 1


def test_a_question_and_the_envelope_are_read_from_one_response(endpoint: Endpoint) -> None:
    endpoint.default_reply = json_reply(context_action(endpoint.url))
    for mode, state in (("never_ask", "feedback_ready"), ("off", "not_requested")):
        feedback = CompanyClient(endpoint.url, mode=mode)
        with serving_app(feedback.wsgi(make_enrichment_app(feedback))) as url:
            actions = visit(url)
            assert (actions.state, actions.context is not None) == (state, True)
    with pytest.raises(ValueError, match="in the state not_requested"):
        actions.submit_outcome("success", "It worked as it should.")


def test_the_service_that_is_away_is_tried_once_more_and_told_of(endpoint: Endpoint, shop_url: str) -> None:
    actions = visit(shop_url)
    endpoint.default_reply = Reply(503)
    with pytest.raises(ServiceUnavailable, match="answered with status 503 twice"):
        actions.answer([PRICE])


@pytest.mark.parametrize(
    ("items", "status", "message"),
    [
        ([PRICE], "declined", "items are needed for"),
        ([], "answered", "items are needed for"),
        ([PRICE], "perhaps", "status must be one of answered"),
        ([PRICE] * 9, "answered", "at most 8 items"),
        ([{**PRICE, "key": "other.key"}], "answered", "key must be one of shopping.priority, shop.size"),
        ([{**PRICE, "value": "beauty"}], "answered", "must be one of price, quality, speed"),
        ([{**PRICE, "value": ["price"]}], "answered", "must be one of price, quality, speed"),
        ([{**PRICE, "provenance": "a_guess"}], "answered", "provenance must be one of"),
        ([{"key": "shop.size", "value": "large"}], "answered", "an item has key, type, value, provenance"),
        ([{**PRICE, "note": "x"}], "answered", "an item has key, type, value, provenance"),
        ([{**PRICE, "type": "interest"}], "answered", "the type of shopping.priority is preference"),
        ([{**PRICE, "confidence": 1.1}], "answered", "confidence is a number from 0 to 1"),
        ([{**PRICE, "confidence": True}], "answered", "confidence is a number from 0 to 1"),
        ([{**PRICE, "confidence": float("nan")}], "answered", "confidence is a number from 0 to 1"),
        ([{**PRICE, "confidence": "high"}], "answered", "confidence is a number from 0 to 1"),
    ],
)
def test_what_the_question_does_not_allow_is_not_sent(items: Any, status: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        receive().answer(items, status)


@pytest.mark.parametrize("schema", [None, {}, {"catalog": 1}, {"catalog": [], "status": 1, "items": {}}])
def test_a_question_that_cannot_be_read_is_not_answered(schema: Any) -> None:
    submit = {"url": "", "authorization": "Bearer x", "bodySchema": schema}
    with pytest.raises(ValueError, match=r"does not publish its bounds|key must be one of"):
        receive(submit=submit).answer([PRICE])


def test_a_decision_needs_its_action_and_its_words() -> None:
    with pytest.raises(ValueError, match="nothing is to be decided"):
        receive(consent=None).decline_context()
    actions = receive().context
    assert actions
    with pytest.raises(ValueError, match="decision must be one of approved, declined"):
        actions.decide("perhaps")
    with pytest.raises(ValueError, match="does not publish its bounds"):
        receive(consent={"url": ""}).decline_context()


@pytest.mark.parametrize(
    ("response_url", "url"),
    [
        ("https://shop.example.com/products", "https://feedback.example.com/_service/v1/enrichment/answers"),
        ("https://shop.example.com/products", "//feedback.example.com/_service/v1/enrichment/answers"),
        ("https://shop.example.com/products", "http://shop.example.com/_service/v1/enrichment/answers"),
        ("http://shop.example.com/products", "/_service/v1/enrichment/answers"),
        ("ftp://127.0.0.1/products", "/_service/v1/enrichment/answers"),
        ("", "/_service/v1/enrichment/answers"),
        ("", "https://shop.example.com/_service/v1/enrichment/answers"),
    ],
)
def test_an_answer_goes_to_the_products_own_safe_origin_only(response_url: str, url: str) -> None:
    content = context_action("")
    content["submit"]["url"] = url
    with pytest.raises(ValueError, match="is not the product's own origin"):
        ContextAction(content, response_url).answer([PRICE])


@pytest.mark.parametrize(
    "response",
    [
        {"_service": None},
        {"_service": {"customerContext": []}},
        {"_service": []},
        b'<script id="agent-service-context" type="application/json">{</script>',
        b'<script id="agent-service-context" type="text/javascript">{"customerContext":{}}</script>',
        b'<!-- <script id="agent-service-context" type="application/json">{"customerContext":{}}</script> -->',
        '<p id="agent-service-context">',
        SimpleNamespace(content=b"\xff agent-service-context <"),
    ],
)
def test_what_is_no_question_is_none(response: Any) -> None:
    assert from_response(response, allowed_origins=[], url="https://shop.example.com/") is None


def test_without_a_question_nothing_is_answered(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url)
    with serving_app(feedback.wsgi(make_enrichment_app(feedback, b"{}", [JSON, ("Cache-Control", "private")]))) as url:
        endpoint.default_reply = json_reply({})
        actions = visit(url)
    assert (actions.context, actions.retry_headers) == (None, {})
    with pytest.raises(ValueError, match="has no context action"):
        actions.answer([PRICE])


def test_the_question_is_plain_json_for_an_agent_without_this_package(endpoint: Endpoint) -> None:
    endpoint.default_reply = json_reply(context_action(endpoint.url))
    feedback = CompanyClient(endpoint.url)
    with serving_app(feedback.wsgi(make_enrichment_app(feedback))) as url:
        action = requests.get(f"{url}/products", timeout=10).json()["_service"]["customerContext"]["submit"]
        endpoint.default_reply = json_reply({"accepted": True})
        response = requests.post(
            url + action["url"],
            data=json.dumps({"status": "answered", "items": [{**PRICE, "type": "preference"}]}),
            headers={"Authorization": action["authorization"]},
            timeout=10,
        )
    assert response.json() == {"accepted": True}
