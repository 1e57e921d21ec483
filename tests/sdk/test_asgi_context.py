"""Over ASGI too, marked responses carry the request for context, and agents answer at the relay."""

import asyncio
import json
import threading
from contextvars import ContextVar
from typing import Any

import pytest

from tests.sdk.asgi_site import (
    Exchange,
    Message,
    fetch_asgi,
    make_asgi_app,
    make_asgi_asking,
    make_scope,
    part,
    start,
    with_length,
)
from tests.sdk.endpoint import HANG_UP, Endpoint, Reply
from tests.sdk.shop import HANDLE, CompanyClient, context_action, json_reply, requests_of
from tests.sdk.site import BODY

ANSWERS = "/_service/v1/enrichment/answers"
ANSWER = {"status": "no_relevant_context", "items": []}
BEARER = {"authorization": f"Bearer {HANDLE}"}
ADVERTISING = "targeted_advertising"


@pytest.fixture(autouse=True)
def a_question(endpoint: Endpoint) -> None:
    endpoint.default_reply = json_reply(context_action(endpoint.url))


async def no_product(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("the product's own code ran")


def header(result: Exchange, name: str) -> str:
    (value,) = result.response.get_all(name)
    return value


def test_a_marked_response_carries_the_question(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url)
    app = feedback.asgi(make_asgi_asking(feedback, start(with_length(len(BODY))), part()))
    result = fetch_asgi(app, root_path="/shop", headers={"user-agent": "An Agent"})
    content = json.loads(result.response.body)
    assert list(content) == ["a", "_agentFeedback", "_service"]
    assert content["_service"]["customerContext"]["submit"]["url"] == f"/shop{ANSWERS}"
    (request,) = requests_of(endpoint)
    assert request["requestObservation"] == {"clientIp": "192.0.2.7", "method": "GET", "userAgent": "An Agent"}
    assert request["interactionId"] == header(result, "service-context-interaction")
    assert header(result, "content-length") == str(len(result.response.body))


def test_the_retry_is_recognised_and_private_and_not_asked_again(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url, mode="off")
    interactions: list[str | None] = []

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        interactions.append(feedback.customer_context.interaction(scope))
        stream = [start([(b"content-type", b"text/plain"), (b"cache-control", b"public")]), part(b"a", more_body=True)]
        is_retry = interactions[-1] is not None
        await make_asgi_asking(feedback, *(stream if is_retry else []))(scope, receive, send)

    wrapped = feedback.asgi(app)
    interaction_id = header(fetch_asgi(wrapped), "service-context-interaction")
    retry = fetch_asgi(wrapped, headers={"service-context-interaction": interaction_id})
    assert interactions == [None, interaction_id]
    assert retry.messages[0]["headers"] == [(b"content-type", b"text/plain"), (b"cache-control", b"private, no-store")]
    assert len(endpoint.requests) == 1
    elsewhere = fetch_asgi(wrapped, "/elsewhere", headers={"service-context-interaction": interaction_id})
    assert interactions[-1] is None
    assert elsewhere.response.get_all("service-context-interaction")


def test_the_loop_goes_on_while_the_service_is_slow(endpoint: Endpoint) -> None:
    endpoint.gate.clear()
    feedback = CompanyClient(endpoint.url)
    app = feedback.asgi(make_asgi_asking(feedback))

    async def run() -> list[Message]:
        messages: list[Message] = []

        async def send(message: Message) -> None:
            messages.append(message)

        task = asyncio.create_task(app(make_scope(), None, send))
        while not endpoint.requests:  # would never be, if the loop waited for the service
            await asyncio.sleep(0.001)
        assert messages == []
        endpoint.gate.set()
        await task
        return messages

    messages = asyncio.run(run())
    assert b"_service" in messages[1]["body"]
    assert any(thread.name.startswith("agent-feedback-context") for thread in threading.enumerate())


def test_callbacks_see_the_variables_of_their_request_in_the_thread_too(endpoint: Endpoint) -> None:
    account: ContextVar[str | None] = ContextVar("account", default=None)
    feedback = CompanyClient(endpoint.url, customer_ref=lambda scope: account.get())

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        account.set("account_42")
        await make_asgi_asking(feedback)(scope, receive, send)

    fetch_asgi(feedback.asgi(app))
    assert feedback.events[0]["customerRef"] == "account_42"


def test_a_request_that_is_cancelled_while_the_service_is_slow_ends(endpoint: Endpoint) -> None:
    endpoint.gate.clear()
    feedback = CompanyClient(endpoint.url)

    async def run() -> None:
        task = asyncio.create_task(feedback.asgi(make_asgi_asking(feedback))(make_scope(), None, None))
        while not endpoint.requests:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        endpoint.gate.set()

    asyncio.run(run())


@pytest.mark.parametrize("reply", [Reply(500), Reply(HANG_UP), Reply(200, b"rubbish")])
def test_without_an_answer_the_response_has_the_envelope_alone(endpoint: Endpoint, reply: Reply) -> None:
    endpoint.default_reply = reply
    feedback = CompanyClient(endpoint.url)
    result = fetch_asgi(feedback.asgi(make_asgi_asking(feedback)))
    assert list(json.loads(result.response.body)) == ["a", "_agentFeedback"]


def test_without_a_thread_the_response_has_the_envelope_alone(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    feedback = CompanyClient(endpoint.url)
    app = feedback.asgi(make_asgi_asking(feedback))

    async def run() -> list[Message]:
        messages: list[Message] = []

        async def send(message: Message) -> None:
            messages.append(message)

        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", fail)
            await app(make_scope(), None, send)
        return messages

    assert list(json.loads(asyncio.run(run())[1]["body"])) == ["a", "_agentFeedback"]


def test_a_thread_that_takes_too_long_costs_the_action_alone(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    feedback, is_over = CompanyClient(endpoint.url, context_timeout=0.01), threading.Event()
    monkeypatch.setattr(feedback.customer_context, "request_enrichment", lambda *args, **settings: is_over.wait(20))
    app = feedback.asgi(make_asgi_asking(feedback))

    async def run() -> list[Message]:
        messages: list[Message] = []

        async def send(message: Message) -> None:
            messages.append(message)

        await app(make_scope(), None, send)
        assert not is_over.is_set()
        is_over.set()
        return messages

    assert list(json.loads(asyncio.run(run())[1]["body"])) == ["a", "_agentFeedback"]
    app._threads._executor.shutdown()  # type: ignore[attr-defined]  # what the thread returns comes too late
    assert len(feedback.events) == 1


def test_context_for_advertising_is_empty_under_the_privacy_signal_in_threads_too(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url, mode="off")
    references = {"purpose": ADVERTISING, "interaction_id": "01234567-89ab-4def-8123-456789abcdef"}

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        context = await asyncio.to_thread(feedback.customer_context.context, **references)
        assert not context
        await make_asgi_app()(scope, receive, send)

    async def run() -> list[int]:
        counts = []
        for headers in ({"sec-gpc": "1"}, {}):
            await feedback.asgi(app)(make_scope(headers=headers), None, _ignore)
            counts.append(len(endpoint.requests))
        return counts

    assert asyncio.run(run()) == [0, 1]


async def _ignore(message: Message) -> None:
    """Take a message that nobody looks at."""


def post(feedback: CompanyClient, *received: Message, path: str = ANSWERS, **members: Any) -> Exchange:
    scope_members = {"method": "POST", "headers": BEARER, **members}
    return fetch_asgi(feedback.asgi(no_product), path, list(received), **scope_members)


def request_part(body: bytes, *, more_body: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more_body}


def test_the_relay_forwards_a_handle_and_a_body(endpoint: Endpoint) -> None:
    endpoint.default_reply = json_reply({"submit": context_action(endpoint.url)["submit"]})
    text = json.dumps(ANSWER).encode()
    parts = [request_part(text[:9], more_body=True), request_part(text[9:])]
    for path in (ANSWERS, f"/shop{ANSWERS}"):
        result = post(CompanyClient(endpoint.url), *parts, path=path, root_path="/shop")
        assert json.loads(result.response.body)["submit"]["url"] == f"/shop{ANSWERS}"
        assert header(result, "cache-control") == "private, no-store"
    assert [request.content for request in endpoint.requests] == [ANSWER, ANSWER]
    assert endpoint.requests[0].headers["Authorization"] == f"Bearer {HANDLE}"


LARGE = b'"' + b"a" * 65_536


@pytest.mark.parametrize(
    ("received", "members", "expected"),
    [
        ([request_part(b"{")], {}, (400, "invalid_customer_context_body")),
        ([request_part(b"")], {}, (400, "invalid_customer_context_body")),
        ([request_part(LARGE)], {}, (413, "invalid_customer_context_body")),
        ([request_part(LARGE[:40_000], more_body=True)] * 2, {}, (413, "invalid_customer_context_body")),
        ([], {"headers": {**BEARER, "content-length": "65537"}}, (413, "invalid_customer_context_body")),
        ([request_part(b"{")], {"headers": {}}, (401, "invalid_customer_context_handle")),
        ([request_part(LARGE)], {"headers": {}}, (401, "invalid_customer_context_handle")),
        ([request_part(b"{}")], {"path": "/_service/v1/elsewhere"}, (404, "not_found")),
        ([request_part(b"{}")], {"method": "PUT"}, (404, "not_found")),
    ],
)
def test_the_relay_refuses_everything_else(
    endpoint: Endpoint, received: list[Message], members: dict[str, Any], expected: tuple[int, str]
) -> None:
    result = post(CompanyClient(endpoint.url), *received, **members)
    assert (int(result.response.status), json.loads(result.response.body)["code"]) == expected
    assert not endpoint.requests


def test_the_relay_answers_a_head_without_a_body(endpoint: Endpoint) -> None:
    result = post(CompanyClient(endpoint.url), method="HEAD")
    assert (result.response.status, result.response.body) == ("404", b"")


def test_a_body_that_does_not_arrive_ends_the_wait(endpoint: Endpoint) -> None:
    feedback, messages = CompanyClient(endpoint.url, relay_timeout=0.02), list[Message]()

    async def receive() -> Message:
        await asyncio.sleep(60)
        return request_part(b"")

    async def send(message: Message) -> None:
        messages.append(message)

    scope = make_scope(ANSWERS, headers=BEARER, method="POST")
    asyncio.run(feedback.asgi(no_product)(scope, receive, send))
    assert messages[0]["status"] == 400


def test_a_client_that_leaves_before_its_body_gets_nothing(endpoint: Endpoint) -> None:
    result = post(CompanyClient(endpoint.url), request_part(b"{", more_body=True), {"type": "http.disconnect"})
    assert (result.messages, result.error, endpoint.requests) == ([], None, [])


def test_without_a_company_key_there_is_no_relay(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url, company_key=None)
    result = fetch_asgi(feedback.asgi(make_asgi_app()), ANSWERS, method="POST", headers=BEARER)
    assert result.messages == [start(), part()]
