"""A response that the product marks carries the question; every other one is as it was."""

import base64
import json
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from agent_feedback import CustomerReferences
from flask import Flask, jsonify, request

from tests.sdk.endpoint import Endpoint
from tests.sdk.shop import CompanyClient, context_action, json_reply, make_enrichment_app, requests_of
from tests.sdk.site import BODY, JSON, App, Headers, Response, fetch, make_app

HTML = ("Content-Type", "text/html; charset=utf-8")
PAGE = b"<!doctype html><html><head><title>Shop</title></head><body>Shoes</body></html>"


@pytest.fixture(autouse=True)
def a_question(endpoint: Endpoint) -> None:
    endpoint.default_reply = json_reply(context_action(endpoint.url))


def context_of(response: Response) -> dict[str, Any]:
    action: dict[str, Any] = json.loads(response.body)["_service"]["customerContext"]
    return action


def is_untouched(response: Response, app: App, **environ: Any) -> bool:
    return response == fetch(app, **environ)


def test_a_marked_response_carries_the_question_beside_the_envelope(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url)
    response = fetch(feedback.wsgi(make_enrichment_app(feedback)), "/products/12")
    assert response.body.startswith(BODY[:-2] + b',"_agentFeedback":{')
    assert response.body.endswith(b"}\n")
    content = json.loads(response.body)
    assert list(content) == ["a", "_agentFeedback", "_service"]
    expected = context_action("")
    expected["submit"]["url"] = "/_service/v1/enrichment/answers"
    expected["consent"]["url"] = "/_service/v1/enrichment/consent"
    assert context_of(response) == expected
    assert endpoint.url.encode() not in response.body.partition(b'"_service"')[2]
    assert response.get_all("Cache-Control") == ["private, no-store"]
    assert response.get_all("Content-Length") == [str(len(response.body))]
    assert len(response.get_all("Link")) == 1


def test_the_request_tells_what_the_adapter_knows(endpoint: Endpoint) -> None:
    feedback = CompanyClient(
        endpoint.url,
        session_ref=lambda environ: "s1",
        runtime_hint=lambda environ: "an-agent/1",
        customer_ref=lambda e: "c",
    )
    arguments = {"remember": True, "customer": CustomerReferences("u", "a"), "field_keys": ["shopping.priority"]}
    response = fetch(
        feedback.wsgi(make_enrichment_app(feedback, **arguments)),
        "/products/12",
        QUERY_STRING="q=secret",
        REMOTE_ADDR="192.0.2.7",
        HTTP_USER_AGENT="An Agent",
        HTTP_COOKIE="session=secret",
        HTTP_REFERER="https://shop.example.com/a?q=secret",
        HTTP_X_FORWARDED_FOR="198.51.100.1",
        HTTP_AUTHORIZATION="Bearer secret",
    )
    (request,) = requests_of(endpoint)
    assert request.pop("durationMs") >= 0
    assert request.pop("interactionId") == feedback.events[0]["interactionId"]
    assert request == {
        "operation": "/products/:id",
        "surface": "http_json",
        "purpose": "product_personalization",
        "remember": True,
        "userRef": "u",
        "accountRef": "a",
        "fieldKeys": ["shopping.priority"],
        "statusCode": 200,
        "sessionRef": "s1",
        "runtimeHint": "an-agent/1",
        "requestObservation": {
            "clientIp": "192.0.2.7",
            "method": "GET",
            "userAgent": "An Agent",
            "referrerOrigin": "https://shop.example.com",
        },
    }
    assert b"secret" not in endpoint.requests[0].body
    assert not response.get_all("Service-Context-Interaction")


def test_one_interaction_has_one_name_everywhere(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url)
    response = fetch(feedback.wsgi(make_enrichment_app(feedback, operation="/catalogue")))
    (request,) = requests_of(endpoint)
    payload = context_capability(response)
    (header,) = response.get_all("Service-Context-Interaction")
    assert header == request["interactionId"] == feedback.events[0]["interactionId"] == payload["i"]
    assert uuid.UUID(header).version == 4
    assert request["operation"] == feedback.events[0]["operation"] == "/catalogue"


def context_capability(response: Response) -> dict[str, Any]:
    token = json.loads(response.body)["_agentFeedback"]["submitOutcome"]["authorization"].split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    return claims


def test_without_feedback_the_question_stands_alone(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url, mode="off")
    response = fetch(feedback.wsgi(make_enrichment_app(feedback)))
    assert list(json.loads(response.body)) == ["a", "_service"]
    assert (response.get_all("Link"), feedback.events) == ([], [])
    plain = make_app(headers=[JSON, ("ETag", '"1"')])
    assert is_untouched(fetch(feedback.wsgi(plain)), plain)


def test_a_response_that_asks_nothing_is_not_told_of(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url)
    response = fetch(feedback.wsgi(make_app()))
    assert list(json.loads(response.body)) == ["a", "_agentFeedback"]
    assert not endpoint.requests


def test_the_kill_switch_takes_everything_away(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", "false")
    feedback = CompanyClient(endpoint.url)
    app = make_enrichment_app(feedback)
    assert feedback.wsgi(app) is app
    assert is_untouched(fetch(app), make_app())
    assert not endpoint.requests


def test_html_carries_the_question_in_an_element(endpoint: Endpoint) -> None:
    action = context_action(endpoint.url, stageInstruction="</script><b>")
    endpoint.default_reply = json_reply(action)
    feedback = CompanyClient(endpoint.url, mode="off")
    response = fetch(feedback.wsgi(make_enrichment_app(feedback, PAGE, [HTML, ("ETag", '"1"')])))
    head, tail = response.body.split(b'<script id="agent-service-context" type="application/json">')
    text, _, end = tail.partition(b"</script>")
    assert head + end == PAGE
    assert end.startswith(b"</head>")
    action = json.loads(text)["customerContext"]
    assert action["stageInstruction"] == "</script><b>"
    assert action["submit"]["url"] == "/_service/v1/enrichment/answers"
    assert requests_of(endpoint)[0]["surface"] == "html"
    assert response.get_all("Cache-Control") == ["private, no-store"]
    assert response.get_all("Content-Length") == [str(len(response.body))]
    assert response.get_all("Service-Context-Interaction") == [requests_of(endpoint)[0]["interactionId"]]
    assert not response.get_all("ETag")


@pytest.mark.parametrize(
    "page", [b"", b"<html><!-- never closed", b'<p id="agent-service-context">', b"<script>never closed"]
)
def test_html_that_takes_no_element_asks_nothing(endpoint: Endpoint, page: bytes) -> None:
    feedback = CompanyClient(endpoint.url, mode="off")
    response = fetch(feedback.wsgi(make_enrichment_app(feedback, page, [HTML])))
    assert is_untouched(response, make_app(page, headers=[HTML]))
    assert not endpoint.requests


@pytest.mark.parametrize("body", [b"[1]", b"{", b'{"_service":1}', b'{"_service":null,"_agentFeedback":1}'])
def test_json_that_takes_no_member_asks_nothing(endpoint: Endpoint, body: bytes) -> None:
    feedback = CompanyClient(endpoint.url)
    response = fetch(feedback.wsgi(make_enrichment_app(feedback, body)))
    assert b"customerContext" not in response.body
    assert not endpoint.requests


def test_an_envelope_of_the_products_own_leaves_room_for_the_question(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url)
    response = fetch(feedback.wsgi(make_enrichment_app(feedback, b'{"_agentFeedback":1}')))
    assert list(json.loads(response.body)) == ["_agentFeedback", "_service"]
    assert feedback.events == []


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        ("404 Not Found", [JSON]),
        ("206 Partial Content", [JSON]),
        ("200 OK", [JSON, ("Content-Encoding", "gzip")]),
        ("200 OK", [JSON, ("Cache-Control", "public")]),
        ("200 OK", [("Content-Type", "text/html; charset=utf-16")]),
        ("200 OK", [("Content-Type", "text/plain")]),
        ("200 OK", [HTML, ("Cache-Control", "max-age=60")]),
    ],
)
def test_an_ineligible_response_asks_nothing(endpoint: Endpoint, status: str, headers: Headers) -> None:
    feedback = CompanyClient(endpoint.url)

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        feedback.customer_context.ask(environ, purpose="product_personalization")
        return make_app(status=status, headers=headers)(environ, start_response)

    assert is_untouched(fetch(feedback.wsgi(app)), make_app(status=status, headers=headers))
    assert not endpoint.requests


def test_a_stream_asks_nothing_and_is_not_held_back(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url)

    def stream() -> Iterator[bytes]:
        yield b'{"a":'
        yield b"1}"

    response = fetch(feedback.wsgi(make_enrichment_app(feedback, stream())))
    assert (response.body, response.headers) == (b'{"a":1}', [JSON])
    assert not endpoint.requests


def test_the_answer_to_head_and_excluded_paths_ask_nothing(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url, exclude=["/private/**"])
    app = make_enrichment_app(feedback)
    for environ in ({"REQUEST_METHOD": "HEAD", "is_strict": False}, {"path": "/private/a"}):
        assert is_untouched(fetch(feedback.wsgi(app), **environ), make_app(), **environ)
    assert not endpoint.requests


def test_a_mounted_product_is_answered_where_it_is_mounted(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url)
    for mount, expected in (("/shop", "/shop"), ("//evil.example.com", "/evil.example.com"), ("/\xc3\xa9", "/%C3%A9")):
        response = fetch(feedback.wsgi(make_enrichment_app(feedback)), SCRIPT_NAME=mount, is_strict=False)
        assert context_of(response)["submit"]["url"] == f"{expected}/_service/v1/enrichment/answers"


def test_what_the_product_does_to_its_environment_changes_no_address(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url)

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        environ_copy = dict(environ)
        environ.update(SCRIPT_NAME="/api", PATH_INFO="/products", REQUEST_METHOD="DELETE")
        return make_enrichment_app(feedback)(environ_copy, start_response)

    wrapped_app = feedback.wsgi(app)
    response = fetch(wrapped_app, "/api/products", is_strict=False)
    assert context_of(response)["submit"]["url"] == "/_service/v1/enrichment/answers"
    (interaction,) = response.get_all("Service-Context-Interaction")
    retry = fetch(wrapped_app, "/api/products", is_strict=False, HTTP_SERVICE_CONTEXT_INTERACTION=interaction)
    assert "_service" not in json.loads(retry.body)


@pytest.mark.parametrize(
    ("changes", "is_asked"),
    [
        ({"state": "declined"}, True),
        ({"state": "no_relevant_context", "requestId": None, "consent": None}, False),
        ({"submit": {"url": "https://feedback.example.com/elsewhere"}, "consent": None}, False),
        ({"url": "https://feedback.example.com/elsewhere"}, False),
    ],
)
def test_without_anything_to_do_the_agent_is_told_nothing(
    endpoint: Endpoint, changes: dict[str, Any], is_asked: bool
) -> None:
    endpoint.default_reply = json_reply(context_action(endpoint.url, **changes))
    feedback = CompanyClient(endpoint.url, mode="off")
    app = make_enrichment_app(feedback)
    assert is_untouched(fetch(feedback.wsgi(app)), app) is not is_asked


def test_asking_without_the_adapter_does_nothing(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url)
    assert is_untouched(fetch(make_enrichment_app(feedback)), make_app())
    feedback.customer_context.ask({}, purpose="product_personalization")


def test_a_flask_view_asks_with_one_line(endpoint: Endpoint) -> None:
    app, feedback = Flask("shop"), CompanyClient(endpoint.url)

    @app.get("/products")
    def products() -> Any:
        feedback.customer_context.ask(
            request.environ, purpose="product_personalization", customer=CustomerReferences("u")
        )
        return jsonify(products=[1, 2])

    app.wsgi_app = feedback.wsgi(app.wsgi_app)
    action = app.test_client().get("/products", environ_base={"REMOTE_ADDR": "192.0.2.7"})
    assert action.get_json()["_service"]["customerContext"]["state"] == "answer_ready"
    assert requests_of(endpoint)[0]["requestObservation"]["clientIp"] == "192.0.2.7"
