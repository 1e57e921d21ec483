"""The ASGI adapter adds the envelope to eligible responses, and passes every other message unchanged and at once."""

import asyncio
import json
from typing import Any

import pytest

from tests.sdk.adapters import make_client
from tests.sdk.asgi_site import (
    ASGI_JSON,
    Exchange,
    Message,
    exchange,
    fetch_asgi,
    make_asgi_app,
    make_scope,
    part,
    start,
    with_length,
)
from tests.sdk.site import BODY, Client

HTML = (b"content-type", b"text/html; charset=utf-8")
PAGE = b"<html><head></head><body>Orders</body></html>"
PLAIN = [(b"content-type", b"text/plain")]


@pytest.fixture
def feedback() -> Client:
    return make_client()


def fetch_both(feedback: Client, *messages: Message, **arguments: Any) -> tuple[list[Message], Exchange]:
    """Return the product's messages, and what comes of them with the adapter."""
    return list(messages), fetch_asgi(feedback.asgi(make_asgi_app(*messages)), **arguments)


def test_an_eligible_object_gets_the_envelope(feedback: Client) -> None:
    result = fetch_asgi(feedback.asgi(make_asgi_app(start(with_length(len(BODY), (b"etag", b'"1"'))), part())))
    first, body = result.messages
    assert body["body"].startswith(BODY[:-2] + b',"_agentFeedback":{')
    assert body["body"].endswith(b"}}\n")
    assert json.loads(body["body"])["_agentFeedback"]["state"] == "feedback_ready"
    assert first["headers"][:3] == [
        ASGI_JSON,
        (b"content-length", str(len(body["body"])).encode()),
        (b"cache-control", b"private, no-store"),
    ]
    assert [name for name, _ in first["headers"][3:]] == [b"link"]
    assert [event["operation"] for event in feedback.events] == ["/orders/:id"]


def test_a_page_gets_the_envelope(feedback: Client) -> None:
    result = fetch_asgi(feedback.asgi(make_asgi_app(start([HTML]), part(PAGE))))
    assert b'<script id="agent-feedback" type="application/json">{' in result.response.body
    assert feedback.events[0]["surface"] == "http_html"


@pytest.mark.parametrize("more_body", [True, False])
def test_the_parts_of_a_declared_length_become_one(feedback: Client, more_body: bool) -> None:
    last = part(BODY[4:], more_body=more_body)
    messages = [start(with_length(len(BODY))), part(BODY[:4], more_body=True), last]
    messages += [part(b"")] if more_body else []
    result = fetch_asgi(feedback.asgi(make_asgi_app(*messages)))
    assert [message["type"] for message in result.messages] == [
        "http.response.start",
        *["http.response.body"] * (2 if more_body else 1),
    ]
    assert result.messages[1]["more_body"] is more_body
    assert result.response.has_envelope


def test_the_last_declared_byte_ends_the_wait(feedback: Client) -> None:
    sizes: list[int] = []

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await send(start(with_length(len(BODY))))
        await send(part(BODY, more_body=True))
        sizes.append(len(result))
        await send(part(b""))

    result: list[Message] = []

    async def run() -> None:
        async def send(message: Message) -> None:
            result.append(message)

        await feedback.asgi(app)(make_scope(), None, send)

    asyncio.run(run())
    assert sizes == [2]
    assert len(result) == 3


UNTOUCHED = {
    "an error": [start(status=404), part()],
    "no content": [start(status=204), part(b"")],
    "a range": [start(status=206), part()],
    "a redirect": [start([ASGI_JSON, (b"location", b"/")], 302), part()],
    "text": [start(PLAIN), part()],
    "compressed": [start([ASGI_JSON, (b"content-encoding", b"gzip")]), part()],
    "shared cache": [start([ASGI_JSON, (b"cache-control", b"public")]), part()],
    "no JSON": [start(), part(b'{"a":')],
    "an envelope of its own": [start(), part(b'{"_agentFeedback":1}')],
    "empty": [start(), part(b"")],
    "a stream": [start(), part(b'{"a":', more_body=True), part(b"1}")],
    "a stream in one part": [start(), part(more_body=True), part(b"")],
    "server-sent events": [start([(b"content-type", b"text/event-stream")]), part(b"data: 1\n\n", more_body=True)],
    "a longer body than declared": [start(with_length(3)), part()],
    "a shorter body than declared": [start(with_length(30)), part()],
    "a length that is none": [start([ASGI_JSON, (b"content-length", b"-")]), part()],
    "an upper-case name": [start([(b"Content-Type", b"text/plain"), (b"X-A", b"\xe9")]), part()],
    "trailers": [
        start(trailers=True),
        part(),
        {"type": "http.response.trailers", "headers": [], "more_trailers": False},
    ],
    "a file by its path": [start(with_length(9)), {"type": "http.response.pathsend", "path": "/srv/orders.json"}],
    "a file by its descriptor": [start(), {"type": "http.response.zerocopysend", "file": 3, "more_body": False}],
    "push": [start(), {"type": "http.response.push", "path": "/a", "headers": []}, part()],
    "early hints": [{"type": "http.response.early_hint", "links": []}, start(PLAIN), part()],
    "headers that are none": [start([("content-type", "application/json")]), part()],  # type: ignore[list-item]  # a product's fault
    "no status": [{"type": "http.response.start", "headers": [ASGI_JSON]}, part()],
    "a text for a body": [start(), {"type": "http.response.body", "body": "{}"}],
    "a second start": [start(), start(PLAIN), part()],
    "a start alone": [start()],
    "a body alone": [part()],
    "no message": [],
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_every_other_response_passes_as_it_is(feedback: Client, name: str) -> None:
    messages = UNTOUCHED[name]

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        for message in messages:
            await send(message)

    result = fetch_asgi(feedback.asgi(app))
    assert result.messages == messages
    assert [a is b for a, b in zip(result.messages, messages, strict=True)] == [True] * len(messages)
    assert (result.error, feedback.events) == (None, [])


def test_headers_that_can_be_read_once_are_left_to_the_server(feedback: Client) -> None:
    result = fetch_asgi(feedback.asgi(make_asgi_app({**start(), "headers": iter([ASGI_JSON])}, part())))
    assert list(result.messages[0]["headers"]) == [ASGI_JSON]
    assert result.messages[1:] == [part()]


def test_the_event_has_the_time_until_the_body_was_complete(feedback: Client) -> None:
    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await asyncio.sleep(0.01)
        await make_asgi_app()(scope, receive, send)

    fetch_asgi(feedback.asgi(app))
    assert feedback.events[0]["durationMs"] >= 10


def test_a_body_beyond_the_limit_passes_at_once() -> None:
    feedback, seen = make_client(max_body_bytes=10), list[int]()
    sent: list[Message] = []

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        for message in (start(with_length(11)), part(BODY)):
            await send(message)
            seen.append(len(sent))

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(feedback.asgi(app)(make_scope(), None, send))
    assert seen == [1, 2]
    messages, result = fetch_both(feedback, start(), part(BODY))
    assert result.messages == messages


def test_a_head_that_is_told_of_the_envelope_alone_waits_for_nothing() -> None:
    feedback, seen = make_client(cache_mode="request"), list[int]()
    sent: list[Message] = []

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await send(start(with_length(len(BODY))))
        seen.append(len(sent))
        await send(part())

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(feedback.asgi(app)(make_scope(), None, send))
    assert (seen, sent[1]) == ([1], part())
    assert b"vary" in dict(sent[0]["headers"])


def test_a_stream_is_held_back_by_no_message_after_its_first_part(feedback: Client) -> None:
    sent: list[Message] = []
    counts: list[int] = []

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        for message in (start(), part(b"[", more_body=True), part(b"1", more_body=True), part(b"]")):
            await send(message)
            counts.append(len(sent))

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(feedback.asgi(app)(make_scope(), None, send))
    assert counts == [0, 2, 3, 4]


def test_the_response_does_not_wait_for_background_work(feedback: Client) -> None:
    sent: list[Message] = []
    done: list[int] = []

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await make_asgi_app()(scope, receive, send)
        done.append(len(sent))

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(feedback.asgi(app)(make_scope(), None, send))
    assert done == [2]


@pytest.mark.parametrize("scope_type", ["websocket", "webtransport"])
def test_what_is_neither_http_nor_lifespan_is_the_products_own(feedback: Client, scope_type: str) -> None:
    calls: list[tuple[Any, ...]] = []

    async def app(*arguments: Any) -> None:
        calls.append(arguments)

    scope = {"type": scope_type, "path": "/orders", "headers": []}
    receive, send = object(), object()
    asyncio.run(feedback.asgi(app)(scope, receive, send))
    ((given_scope, given_receive, given_send),) = calls
    assert given_scope is scope
    assert (given_receive, given_send) == (receive, send)
    assert scope == {"type": scope_type, "path": "/orders", "headers": []}


def test_the_callbacks_get_the_scope() -> None:
    feedback = make_client(
        customer_ref=lambda scope: f"client-{scope['client'][1]}",
        operation=lambda scope: scope["method"],
        runtime_hint="user-agent",
    )
    fetch_asgi(feedback.asgi(make_asgi_app()), headers={"user-agent": "ClaudeBot/1.0"})
    event = feedback.events[0]
    assert (event["customerRef"], event["operation"], event["runtimeHint"]) == ("client-40000", "GET", "ClaudeBot/1.0")


def test_what_a_framework_does_to_the_scope_changes_nothing(feedback: Client) -> None:
    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        scope.update(root_path="/elsewhere", path="/health", method="HEAD")
        await make_asgi_app()(scope, receive, send)

    assert fetch_asgi(feedback.asgi(app)).response.has_envelope
    assert feedback.events[0]["operation"] == "/orders/:id"


def test_the_kill_switch_disables_the_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", "false")
    app = make_asgi_app()
    assert make_client().asgi(app) is app


def test_requests_at_the_same_time_do_not_mix(feedback: Client) -> None:
    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await send(start())
        await asyncio.sleep(0)
        await send(part(json.dumps({"path": scope["path"]}).encode()))

    async def run() -> list[Exchange]:
        wrapped = feedback.asgi(app)
        return await asyncio.gather(*(exchange(wrapped, make_scope(f"/{number}")) for number in range(20)))

    contents = [json.loads(result.response.body) for result in asyncio.run(run())]
    assert [content["path"] for content in contents] == [f"/{number}" for number in range(20)]
    assert len({content["_agentFeedback"]["submit"]["authorization"] for content in contents}) == 20
