"""What carries the envelope: a member, an element, or a header; and what the cache mode `request` adds."""

import base64
import json
import re
import time
from typing import Any

import pytest
from agent_feedback.consent import MAX_REFRESHES

from tests.sdk.adapters import ADAPTERS, LOOPBACK, Call, make_client, respond
from tests.sdk.endpoint import Endpoint, Reply, wait_until
from tests.sdk.site import JSON, Client, Response

HTML = ("Content-Type", "text/html; charset=utf-8")
PAGE = b"<!doctype html><html><head><title>Orders</title></head><body>Three</body></html>"
PAGE_WITH_ID = b'<html><head></head><body><p id="agent-feedback">ours</p></body></html>'
DISCOVERY = f'<{LOOPBACK}/.well-known/agent-feedback-v1.json>; rel="agent-feedback"; type="application/json"'
ASK = {"Agent-Feedback-Request": "1"}
ASK_ONCE: dict[str, Any] = {"mode": "ask_once", "customer_ref": lambda source: "account_42"}
"""With these the envelope has a question, which has the name of the service."""

pytestmark = pytest.mark.parametrize("adapter", ADAPTERS)


def header_envelope(response: Response) -> dict[str, Any]:
    (value,) = response.get_all("Agent-Feedback")
    envelope: dict[str, Any] = json.loads(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
    return envelope


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        *((body, [JSON]) for body in (b"[]", b' [{"a": 1}] ', b"1.50", b'"text"', b"null", b"true")),
        (b"9" * 5_000, [JSON]),
        (PAGE_WITH_ID, [HTML]),
    ],
)
def test_what_has_no_room_carries_the_envelope_in_a_header(
    adapter: str, body: bytes, headers: list[tuple[str, str]]
) -> None:
    feedback = make_client()
    own = [("ETag", '"1"'), ("Content-Length", str(len(body))), ("Accept-Ranges", "bytes"), ("Digest", "sha-256=x")]
    response = respond(adapter, feedback, Call(body, [*headers, *own, ("Cache-Control", "no-cache")]))
    assert response.body == body
    assert header_envelope(response)["state"] == "feedback_ready"
    assert response.get_all("Link") == [DISCOVERY]
    # The body is the same, so what describes it stays.
    assert [response.get_all(name) for name, _ in own] == [[value] for _, value in own]
    assert response.get_all("Cache-Control") == ["private, no-store"]
    assert [event["surface"] for event in feedback.events] == ["http_headers"]
    assert "=" not in response.get_all("Agent-Feedback")[0]


@pytest.mark.parametrize(("length", "fits"), [(2_900, True), (4_600, False)])
def test_a_header_that_would_be_too_long_is_left_out(adapter: str, length: int, fits: bool) -> None:
    feedback = make_client(**ASK_ONCE, service_name="A" * length)
    response = respond(adapter, feedback, Call(b"[1]"))
    assert (len(response.get_all("Agent-Feedback")), len(feedback.events)) == (fits, fits)
    if not fits:
        assert response == respond(adapter, None, Call(b"[1]"))


def test_a_page_carries_the_envelope_in_an_element(adapter: str) -> None:
    feedback = make_client(**ASK_ONCE, service_name="</script><b>")
    own = [("ETag", '"1"'), ("Content-Length", str(len(PAGE))), ("Set-Cookie", "a=1")]
    response = respond(adapter, feedback, Call(PAGE, [HTML, *own]))
    head, text, tail = re.split(rb'<script id="agent-feedback" type="application/json">(.*?)</script>', response.body)
    assert head + tail == PAGE
    assert tail.startswith(b"</head>")
    assert "</script><b>" in json.loads(text)["requiredAction"]["question"]
    assert response.get_all("Content-Length") == [str(len(response.body))]
    assert (response.get_all("ETag"), response.get_all("Set-Cookie")) == ([], ["a=1"])
    assert (response.get_all("Link"), response.get_all("Agent-Feedback")) == ([DISCOVERY], [])
    assert [event["surface"] for event in feedback.events] == ["http_html"]


@pytest.mark.parametrize(
    ("body", "header"),
    [
        (b"", HTML),
        (b"<html><!-- open", HTML),
        (b"<plaintext>", HTML),
        (PAGE.decode().encode("utf-16"), HTML),
        (PAGE, ("Content-Type", "text/html; charset=utf-16")),
        (PAGE, ("Content-Type", "application/xhtml+xml")),
        (b"[1", JSON),
        (b"[1]]", JSON),
        (b"", JSON),
        (b'{"_agentFeedback": 1}', JSON),
        (b'{"_agent\\u0046eedback": 1}', JSON),
    ],
)
def test_what_is_left_alone_has_neither_header_nor_event(adapter: str, body: bytes, header: tuple[str, str]) -> None:
    feedback, call = make_client(), Call(body, [header, ("ETag", '"1"')])
    assert respond(adapter, feedback, call) == respond(adapter, None, call)
    assert feedback.events == []


# The cache mode `request`.


def request_link(target: str) -> str:
    return f'<{target}>; rel="agent-feedback"; request-header="Agent-Feedback-Request: 1"'


@pytest.fixture
def by_request() -> Client:
    return make_client(cache_mode="request")


def test_an_ordinary_request_is_told_how_to_ask(adapter: str, by_request: Client) -> None:
    call = Call(headers=[JSON, ("Cache-Control", "public, max-age=60"), ("ETag", '"1"')], query="page=2&q=a%20b")
    response = respond(adapter, by_request, call)
    assert response.body == call.body
    assert response.headers[:3] == respond(adapter, None, call).headers or adapter == "asgi"
    assert response.get_all("Cache-Control") == ["public, max-age=60"]
    assert response.get_all("ETag") == ['"1"']
    assert response.get_all("Vary") == ["Agent-Feedback-Request"]
    assert response.get_all("Link") == [request_link("/orders/12?page=2&q=a%20b")]
    assert by_request.events == []


def test_a_request_that_asks_gets_the_envelope_whatever_the_policy(adapter: str, by_request: Client) -> None:
    call = Call(headers=[JSON, ("Cache-Control", "public"), ("CDN-Cache-Control", "max-age=9")], request_headers=ASK)
    response = respond(adapter, by_request, call)
    assert response.has_envelope
    assert response.get_all("Cache-Control") == ["private, no-store"]
    assert response.get_all("CDN-Cache-Control") == []
    assert response.get_all("Vary") == ["Agent-Feedback-Request"]
    assert response.get_all("Link") == [DISCOVERY]
    assert len(by_request.events) == 1


@pytest.mark.parametrize("vary", ["agent-feedback-request", "Accept, Agent-Feedback-Request", "*"])
@pytest.mark.parametrize("request_headers", [{}, ASK])
def test_a_vary_that_says_it_already_stays_alone(
    adapter: str, by_request: Client, vary: str, request_headers: dict[str, str]
) -> None:
    call = Call(headers=[JSON, ("Vary", vary)], request_headers=request_headers)
    assert respond(adapter, by_request, call).get_all("Vary") == [vary]


def test_another_vary_gets_company(adapter: str, by_request: Client) -> None:
    response = respond(adapter, by_request, Call(headers=[JSON, ("Vary", "Accept-Encoding")]))
    assert response.get_all("Vary") == ["Accept-Encoding", "Agent-Feedback-Request"]


@pytest.mark.parametrize("request_headers", [{}, ASK])
def test_the_answer_to_head_says_what_the_answer_to_get_would(
    adapter: str, by_request: Client, request_headers: dict[str, str]
) -> None:
    headers = [JSON, ("Content-Length", "11")]
    response = respond(adapter, by_request, Call(b"", headers, method="HEAD", request_headers=request_headers))
    assert response.get_all("Vary") == ["Agent-Feedback-Request"]
    assert response.get_all("Link") == [request_link("/orders/12")]
    assert (response.body, response.get_all("Content-Length"), by_request.events) == (b"", ["11"], [])


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_other_methods_have_no_link_and_an_envelope_where_it_is_asked_for(
    adapter: str, by_request: Client, method: str
) -> None:
    response = respond(adapter, by_request, Call(method=method))
    assert (response.get_all("Vary"), response.get_all("Link")) == (["Agent-Feedback-Request"], [])
    assert respond(adapter, by_request, Call(method=method, request_headers=ASK)).has_envelope


@pytest.mark.parametrize("value", ["0", "true", "1, 1", ""])
def test_another_value_does_not_ask(adapter: str, by_request: Client, value: str) -> None:
    assert not respond(adapter, by_request, Call(request_headers={"Agent-Feedback-Request": value})).has_envelope


def test_the_link_has_the_mount_and_nothing_of_the_host(adapter: str, by_request: Client) -> None:
    headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Prefix": "/evil"}
    response = respond(adapter, by_request, Call(mount="/shop", query="a=1", request_headers=headers))
    assert response.get_all("Link") == [request_link("/shop/orders/12?a=1")]


def test_a_target_that_would_end_the_link_is_percent_encoded(adapter: str, by_request: Client) -> None:
    response = respond(adapter, by_request, Call(query='a=<b> "c"\t\x01\x7f&d=%3E'))
    assert response.get_all("Link") == [request_link("/orders/12?a=%3Cb%3E%20%22c%22%09%01%7F&d=%3E")]


def test_a_target_that_reads_as_a_host_is_in_no_link(adapter: str, by_request: Client) -> None:
    response = respond(adapter, by_request, Call(path="//evil.example/orders"))
    assert (response.get_all("Vary"), response.get_all("Link")) == (["Agent-Feedback-Request"], [])


@pytest.mark.parametrize(
    "call",
    [
        Call(status=404),
        Call(headers=[("Content-Type", "text/plain")]),
        Call(headers=[JSON, ("Content-Encoding", "br")]),
        Call(path="/health"),
    ],
)
@pytest.mark.parametrize("request_headers", [{}, ASK])
def test_what_is_not_eligible_gets_no_header(
    adapter: str, by_request: Client, call: Call, request_headers: dict[str, str]
) -> None:
    call.request_headers = request_headers
    assert respond(adapter, by_request, call) == respond(adapter, None, call)


def test_a_list_is_asked_for_as_an_object_is(adapter: str, by_request: Client) -> None:
    response = respond(adapter, by_request, Call(b"[1]", request_headers=ASK))
    assert header_envelope(response)["state"] == "feedback_ready"
    assert response.get_all("Vary") == ["Agent-Feedback-Request"]


@pytest.mark.parametrize("body", [b"[1", b'{"_agentFeedback": 1}'])
def test_what_is_left_alone_varies_all_the_same(adapter: str, by_request: Client, body: bytes) -> None:
    response = respond(adapter, by_request, Call(body, request_headers=ASK))
    assert (response.body, response.get_all("Vary")) == (body, ["Agent-Feedback-Request"])


def test_the_mode_off_adds_nothing_by_request(adapter: str) -> None:
    feedback = make_client(cache_mode="request", mode="off")
    assert respond(adapter, feedback, Call(request_headers=ASK)) == respond(adapter, None, Call())


# The option `should_instrument`.


@pytest.mark.parametrize("cache_mode", ["safe", "private", "request"])
@pytest.mark.parametrize("answer", [True, 1, False, None, ""])
def test_the_company_may_say_no(adapter: str, cache_mode: str, answer: Any) -> None:
    feedback = make_client(cache_mode=cache_mode, should_instrument=lambda source: answer)
    response = respond(adapter, feedback, Call(request_headers=ASK))
    assert response.has_envelope is bool(answer)
    assert len(feedback.events) == bool(answer)
    if not answer and cache_mode != "request":
        assert response == respond(adapter, None, Call())


def test_a_company_that_says_no_tells_nobody_how_to_ask(adapter: str) -> None:
    feedback = make_client(cache_mode="request", should_instrument=lambda source: False)
    response = respond(adapter, feedback, Call())
    # Another request may get an envelope at this address.
    assert (response.get_all("Vary"), response.get_all("Link")) == (["Agent-Feedback-Request"], [])


def test_the_company_is_asked_with_the_request_and_only_where_it_matters(adapter: str) -> None:
    sources: list[Any] = []

    def should_instrument(source: Any) -> bool:
        sources.append(source)
        return True

    feedback = make_client(should_instrument=should_instrument)
    for call in (Call(), Call(status=500), Call(path="/health"), Call(headers=[("Content-Type", "image/png")])):
        respond(adapter, feedback, call)
    (source,) = sources
    assert source.get("PATH_INFO", source.get("path")) == "/orders/12"


def test_a_company_whose_answer_fails_gets_its_own_response(adapter: str, caplog: pytest.LogCaptureFixture) -> None:
    def should_instrument(source: Any) -> bool:
        raise LookupError("secret")

    feedback = make_client(cache_mode="request", should_instrument=should_instrument)
    for _ in range(2):
        call = Call(request_headers=ASK)
        assert respond(adapter, feedback, call) == respond(adapter, None, call)
    assert "LookupError" in caplog.text
    assert "secret" not in caplog.text


# Consent, in the mode `ask_once`.


def test_many_customers_are_looked_up_eight_at_a_time_and_each_once(adapter: str, endpoint: Endpoint) -> None:
    endpoint.gate.clear()
    endpoint.default_reply = Reply(200, b'{"subjects": []}')
    feedback = Client(
        url=endpoint.url,
        mode="ask_once",
        timeout=10.0,
        customer_ref=lambda source: source.get("HTTP_X_USER") or dict(source["headers"])[b"x-user"].decode(),
    )
    calls = [Call(request_headers={"X-User": f"account_{number}"}) for number in range(30)]
    for number, call in enumerate([*calls, *calls], 1):
        response = respond(adapter, feedback, call)
        # The response does not wait for what nobody answers yet.
        assert json.loads(response.body)["_agentFeedback"]["state"] == "consent_required"
        if number <= MAX_REFRESHES:  # a request for each, as long as there may be one more
            wait_until(lambda number=number: len(endpoint.requests) == number)
    time.sleep(0.05)
    assert len(endpoint.requests) == MAX_REFRESHES
    endpoint.gate.set()
    wait_until(lambda: sum(len(request.content["subjects"]) for request in endpoint.requests) >= 30)
    subjects = [subject for request in endpoint.requests for subject in request.content["subjects"]]
    assert len(subjects) == len(set(subjects)) == 30
