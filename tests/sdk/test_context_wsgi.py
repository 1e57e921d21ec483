"""A response that the product marks carries the question; every other one is as it was."""

import base64
import json
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from flask import Flask, jsonify, request

from tests.sdk.endpoint import Endpoint
from tests.sdk.shop import AskingClient, asking, question, replying, requests_of
from tests.sdk.site import BODY, JSON, App, Headers, Seen, answering, fetch

HTML = ("Content-Type", "text/html; charset=utf-8")
PAGE = b"<!doctype html><html><head><title>Shop</title></head><body>Shoes</body></html>"


@pytest.fixture(autouse=True)
def a_question(endpoint: Endpoint) -> None:
    endpoint.usual = replying(question(endpoint.url))


def context_of(seen: Seen) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(seen.body)["_service"]["customerContext"]
    return found


def is_untouched(seen: Seen, app: App, **environ: Any) -> bool:
    return seen == fetch(app, **environ)


def test_a_marked_response_carries_the_question_beside_the_envelope(endpoint: Endpoint) -> None:
    feedback = AskingClient(endpoint.url)
    seen = fetch(feedback.wsgi(asking(feedback)), "/products/12")
    assert seen.body.startswith(BODY[:-2] + b',"_agentFeedback":{')
    assert seen.body.endswith(b"}\n")
    content = json.loads(seen.body)
    assert list(content) == ["a", "_agentFeedback", "_service"]
    expected = question("")
    expected["submit"]["url"] = "/_service/v1/enrichment/answers"
    expected["consent"]["url"] = "/_service/v1/enrichment/consent"
    assert context_of(seen) == expected
    assert endpoint.url.encode() not in seen.body.partition(b'"_service"')[2]
    assert seen.all("Cache-Control") == ["private, no-store"]
    assert seen.all("Content-Length") == [str(len(seen.body))]
    assert len(seen.all("Link")) == 1


def test_the_request_tells_what_the_adapter_knows(endpoint: Endpoint) -> None:
    feedback = AskingClient(
        endpoint.url,
        session_ref=lambda environ: "s1",
        runtime_hint=lambda environ: "an-agent/1",
        customer_ref=lambda e: "c",
    )
    wanted = {"remember": True, "user_ref": "u", "account_ref": "a", "field_keys": ["shopping.priority"]}
    seen = fetch(
        feedback.wsgi(asking(feedback, **wanted)),
        "/products/12",
        QUERY_STRING="q=secret",
        REMOTE_ADDR="192.0.2.7",
        HTTP_USER_AGENT="An Agent",
        HTTP_COOKIE="session=secret",
        HTTP_REFERER="https://shop.example.com/a?q=secret",
        HTTP_X_FORWARDED_FOR="198.51.100.1",
        HTTP_AUTHORIZATION="Bearer secret",
    )
    (told,) = requests_of(endpoint)
    assert told.pop("durationMs") >= 0
    assert told.pop("interactionId") == feedback.told[0]["interactionId"]
    assert told == {
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
    assert b"secret" not in endpoint.received[0].body
    assert not seen.all("Service-Context-Interaction")


def test_one_interaction_has_one_name_everywhere(endpoint: Endpoint) -> None:
    feedback = AskingClient(endpoint.url)
    seen = fetch(feedback.wsgi(asking(feedback, operation="/catalogue")))
    (told,) = requests_of(endpoint)
    payload = context_capability(seen)
    (header,) = seen.all("Service-Context-Interaction")
    assert header == told["interactionId"] == feedback.told[0]["interactionId"] == payload["i"]
    assert uuid.UUID(header).version == 4
    assert told["operation"] == feedback.told[0]["operation"] == "/catalogue"


def context_capability(seen: Seen) -> dict[str, Any]:
    token = json.loads(seen.body)["_agentFeedback"]["submitOutcome"]["authorization"].split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    return claims


def test_without_feedback_the_question_stands_alone(endpoint: Endpoint) -> None:
    feedback = AskingClient(endpoint.url, mode="off")
    seen = fetch(feedback.wsgi(asking(feedback)))
    assert list(json.loads(seen.body)) == ["a", "_service"]
    assert (seen.all("Link"), feedback.told) == ([], [])
    plain = answering(headers=[JSON, ("ETag", '"1"')])
    assert is_untouched(fetch(feedback.wsgi(plain)), plain)


def test_a_response_that_asks_nothing_is_not_told_of(endpoint: Endpoint) -> None:
    feedback = AskingClient(endpoint.url)
    seen = fetch(feedback.wsgi(answering()))
    assert list(json.loads(seen.body)) == ["a", "_agentFeedback"]
    assert not endpoint.received


def test_the_kill_switch_takes_everything_away(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", "false")
    feedback = AskingClient(endpoint.url)
    app = asking(feedback)
    assert feedback.wsgi(app) is app
    assert is_untouched(fetch(app), answering())
    assert not endpoint.received


def test_html_carries_the_question_in_an_element(endpoint: Endpoint) -> None:
    answer = question(endpoint.url, stageInstruction="</script><b>")
    endpoint.usual = replying(answer)
    feedback = AskingClient(endpoint.url)
    seen = fetch(feedback.wsgi(asking(feedback, PAGE, [HTML, ("ETag", '"1"')])))
    before, after = seen.body.split(b'<script id="agent-service-context" type="application/json">')
    text, _, rest = after.partition(b"</script>")
    assert before + rest == PAGE
    assert rest.startswith(b"</head>")
    found = json.loads(text)["customerContext"]
    assert found["stageInstruction"] == "</script><b>"
    assert found["submit"]["url"] == "/_service/v1/enrichment/answers"
    assert requests_of(endpoint)[0]["surface"] == "html"
    assert seen.all("Cache-Control") == ["private, no-store"]
    assert seen.all("Content-Length") == [str(len(seen.body))]
    assert seen.all("Service-Context-Interaction") == [requests_of(endpoint)[0]["interactionId"]]
    assert not seen.all("ETag")


@pytest.mark.parametrize(
    "page", [b"", b"<html><!-- never closed", b'<p id="agent-service-context">', b"<script>never closed"]
)
def test_html_that_takes_no_element_asks_nothing(endpoint: Endpoint, page: bytes) -> None:
    feedback = AskingClient(endpoint.url)
    seen = fetch(feedback.wsgi(asking(feedback, page, [HTML])))
    assert is_untouched(seen, answering(page, headers=[HTML]))
    assert not endpoint.received


@pytest.mark.parametrize("body", [b"[1]", b"{", b'{"_service":1}', b'{"_service":null,"_agentFeedback":1}'])
def test_json_that_takes_no_member_asks_nothing(endpoint: Endpoint, body: bytes) -> None:
    feedback = AskingClient(endpoint.url)
    seen = fetch(feedback.wsgi(asking(feedback, body)))
    assert b"customerContext" not in seen.body
    assert not endpoint.received


def test_an_envelope_of_the_products_own_leaves_room_for_the_question(endpoint: Endpoint) -> None:
    feedback = AskingClient(endpoint.url)
    seen = fetch(feedback.wsgi(asking(feedback, b'{"_agentFeedback":1}')))
    assert list(json.loads(seen.body)) == ["_agentFeedback", "_service"]
    assert feedback.told == []


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
    feedback = AskingClient(endpoint.url)

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        feedback.customer_context.ask(environ, purpose="product_personalization")
        return answering(status=status, headers=headers)(environ, start_response)

    assert is_untouched(fetch(feedback.wsgi(app)), answering(status=status, headers=headers))
    assert not endpoint.received


def test_a_stream_asks_nothing_and_is_not_held_back(endpoint: Endpoint) -> None:
    feedback = AskingClient(endpoint.url)

    def stream() -> Iterator[bytes]:
        yield b'{"a":'
        yield b"1}"

    seen = fetch(feedback.wsgi(asking(feedback, stream())))
    assert (seen.body, seen.headers) == (b'{"a":1}', [JSON])
    assert not endpoint.received


def test_the_answer_to_head_and_excluded_paths_ask_nothing(endpoint: Endpoint) -> None:
    feedback = AskingClient(endpoint.url, exclude=["/private/**"])
    app = asking(feedback)
    for environ in ({"REQUEST_METHOD": "HEAD", "is_strict": False}, {"path": "/private/a"}):
        assert is_untouched(fetch(feedback.wsgi(app), **environ), answering(), **environ)
    assert not endpoint.received


def test_a_mounted_product_is_answered_where_it_is_mounted(endpoint: Endpoint) -> None:
    feedback = AskingClient(endpoint.url)
    for mount, expected in (("/shop", "/shop"), ("//evil.example.com", "/evil.example.com"), ("/\xc3\xa9", "/%C3%A9")):
        seen = fetch(feedback.wsgi(asking(feedback)), SCRIPT_NAME=mount, is_strict=False)
        assert context_of(seen)["submit"]["url"] == f"{expected}/_service/v1/enrichment/answers"


def test_what_the_product_does_to_its_environment_changes_no_address(endpoint: Endpoint) -> None:
    feedback = AskingClient(endpoint.url)

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        copied = dict(environ)
        environ.update(SCRIPT_NAME="/api", PATH_INFO="/products", REQUEST_METHOD="DELETE")
        return asking(feedback)(copied, start_response)

    extending = feedback.wsgi(app)
    seen = fetch(extending, "/api/products", is_strict=False)
    assert context_of(seen)["submit"]["url"] == "/_service/v1/enrichment/answers"
    (interaction,) = seen.all("Service-Context-Interaction")
    again = fetch(extending, "/api/products", is_strict=False, HTTP_SERVICE_CONTEXT_INTERACTION=interaction)
    assert "_service" not in json.loads(again.body)


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
    endpoint.usual = replying(question(endpoint.url, **changes))
    feedback = AskingClient(endpoint.url, mode="off")
    app = asking(feedback)
    assert is_untouched(fetch(feedback.wsgi(app)), app) is not is_asked


def test_asking_without_the_adapter_does_nothing(endpoint: Endpoint) -> None:
    feedback = AskingClient(endpoint.url)
    assert is_untouched(fetch(asking(feedback)), answering())
    feedback.customer_context.ask({}, purpose="product_personalization")


def test_a_flask_view_asks_with_one_line(endpoint: Endpoint) -> None:
    app, feedback = Flask("shop"), AskingClient(endpoint.url)

    @app.get("/products")
    def products() -> Any:
        feedback.customer_context.ask(request.environ, purpose="product_personalization", user_ref="u")
        return jsonify(products=[1, 2])

    app.wsgi_app = feedback.wsgi(app.wsgi_app)  # type: ignore[method-assign]
    answer = app.test_client().get("/products", environ_base={"REMOTE_ADDR": "192.0.2.7"})
    assert answer.get_json()["_service"]["customerContext"]["state"] == "answer_ready"
    assert requests_of(endpoint)[0]["requestObservation"]["clientIp"] == "192.0.2.7"
