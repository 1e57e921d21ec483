"""A service that is away, slow or confused costs a product a bounded time, once, and one line in its log."""

import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from agent_feedback import Context, CustomerContext, CustomerReferences, ServiceRefused, ServiceUnavailable
from agent_feedback.http import client as http

from tests.sdk.endpoint import COMPANY_KEY, HANG_UP, Endpoint, Reply, closed_port, serving
from tests.sdk.shop import json_reply

GENEROUS_S = 5.0
"""For a machine that is busy; without a time-out these servers would keep a caller longer."""
RETRIEVAL = {"retrievalId": "r1", "items": []}
CONFUSED = {
    "empty": Reply(200, b""),
    "no JSON": Reply(200, b"<html>"),
    "no UTF-8": Reply(200, b'{"retrievalId": "\xff"}'),
    "no object": Reply(200, b"[]"),
    "nothing in it": json_reply({}),
    "items that are none": json_reply({"retrievalId": "r", "items": {"a": 1}}),
    "an item of nothing": json_reply({"retrievalId": "r", "items": [{}]}),
    "deep": Reply(200, b'{"a":' * 100_000),
    "endless": Reply(200, b" " * (http.MAX_RESPONSE_BYTES + 1)),
    "redirect": Reply(307, b"{}", (("Location", "/elsewhere"),)),
    "created": Reply(201, json.dumps(RETRIEVAL).encode()),
    "5xx": json_reply({"error": "Oops.", "code": "internal"}, 500),
    "hang up": Reply(HANG_UP),
}


def client(url: str, timeout: float = 10) -> CustomerContext:
    return CustomerContext(COMPANY_KEY, endpoint=url, timeout=timeout)


def ask(context: CustomerContext, **call: Any) -> Context:
    return context.context(purpose="p", customer=CustomerReferences("a_secret_reference"), **call)


@contextmanager
def silent_listener() -> Iterator[str]:
    """Accept nothing: a connection opens, and then nothing happens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture(params=CONFUSED.values(), ids=CONFUSED)
def confused(endpoint: Endpoint, request: pytest.FixtureRequest) -> Endpoint:
    endpoint.default_reply = request.param
    return endpoint


def test_a_confused_answer_is_no_context_and_one_warning(confused: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    context = client(confused.url)
    assert [ask(context) for _ in range(3)] == [Context()] * 3
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    for secret in (COMPANY_KEY, "a_secret_reference"):
        assert secret not in caplog.text
    assert {request.path for request in confused.requests} == {"/api/v2/customer-context"}


def test_a_confused_answer_is_raised_if_asked_for(confused: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    context = client(confused.url)
    for _ in range(2):
        with pytest.raises((ServiceUnavailable, ServiceRefused)) as error_info:
            ask(context, raise_errors=True)
        assert "a_secret_reference" not in str(error_info.value)
    assert caplog.records == []


@pytest.mark.parametrize("kind", ["gate", "drip", "silent"])
def test_a_slow_service_costs_no_more_than_the_time_out(kind: str) -> None:
    started_at = time.monotonic()
    if kind == "silent":
        with silent_listener() as url, pytest.raises(ServiceUnavailable, match="TimeoutError"):
            ask(client(url, timeout=0.25), raise_errors=True)
    else:
        slow_reply = json_reply(RETRIEVAL)._replace(drip_s=0.1 if kind == "drip" else 0)
        with serving(Endpoint(default_reply=slow_reply)) as endpoint:
            if kind == "gate":
                endpoint.gate.clear()
            with pytest.raises(ServiceUnavailable, match="TimeoutError"):
                ask(client(endpoint.url, timeout=0.25), raise_errors=True)
            assert time.monotonic() - started_at < GENEROUS_S
            endpoint.gate.set()


def test_a_name_that_is_not_resolved_costs_no_more_than_the_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    # The resolver belongs to the operating system: no server of ours can make it slow.
    resolution = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *arguments, **options: resolution.wait(60))
    with pytest.raises(ServiceUnavailable, match="TimeoutError"):
        ask(client("https://feedback.example.com", timeout=0.1), raise_errors=True)
    resolution.set()


def test_the_usual_time_out_is_a_quarter_of_a_second() -> None:
    assert client("https://feedback.example.com")._client._access.timeout == 10
    context = CustomerContext(COMPANY_KEY, endpoint="https://feedback.example.com")
    assert context._client._access.timeout == 0.25


def test_a_service_that_failed_is_not_asked_again_for_a_while(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.default_reply = Reply(503)
    context = client(endpoint.url)
    for _ in range(10):
        assert ask(context) == Context()
    assert len(endpoint.requests) == 1
    monkeypatch.setattr(context._client._breaker, "_open_until", time.monotonic() - 1)
    for _ in range(10):
        assert ask(context) == Context()
    # One found out for all.
    assert len(endpoint.requests) == 2
    endpoint.default_reply = json_reply({**RETRIEVAL, "items": []})
    monkeypatch.setattr(context._client._breaker, "_open_until", time.monotonic() - 1)
    assert [ask(context).retrieval_id for _ in range(5)] == ["r1"] * 5


@pytest.mark.parametrize("kind", ["no JSON", "nothing in it", "items that are none", "an item of nothing"])
def test_an_answer_that_cannot_be_read_is_an_outage(endpoint: Endpoint, kind: str) -> None:
    endpoint.default_reply = CONFUSED[kind]
    context = client(endpoint.url)
    assert [ask(context) for _ in range(5)] == [Context()] * 5
    assert len(endpoint.requests) == 1


def test_who_wants_to_know_is_never_put_off(endpoint: Endpoint) -> None:
    endpoint.replies, endpoint.default_reply = [Reply(503)], json_reply(RETRIEVAL)
    context = client(endpoint.url)
    assert ask(context).retrieval_id is None
    assert ask(context, raise_errors=True).retrieval_id == "r1"
    # And what that finds, holds for all.
    assert ask(context).retrieval_id == "r1"


@pytest.mark.parametrize("status", [400, 404, 409, 422])
def test_a_refusal_of_one_call_is_no_outage(endpoint: Endpoint, status: int) -> None:
    endpoint.default_reply = json_reply({"error": "No.", "code": "no"}, status)
    context = client(endpoint.url)
    ask(context)
    ask(context)
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("status", [401, 429])
def test_a_refusal_that_every_call_would_meet_is_one(endpoint: Endpoint, status: int) -> None:
    endpoint.default_reply = json_reply({"error": "No.", "code": "no"}, status)
    context = client(endpoint.url)
    ask(context)
    ask(context)
    assert len(endpoint.requests) == 1


def test_a_mistake_of_the_programmer_is_told_once_with_the_services_words(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    problem = {"pointer": "/purpose", "code": "enum", "message": "One of these is needed.\nReally."}
    endpoint.default_reply = json_reply({"error": "The body is refused.", "code": "invalid", "errors": [problem]}, 422)
    context = client(endpoint.url)
    for _ in range(3):
        ask(context)
    context.record_outcome(external_outcome_id="e", decision_id="d", outcome="conversion")
    first, second = caplog.messages
    assert "/api/v2/customer-context 422 invalid" in first
    assert "The body is refused. / /purpose One of these is needed. Really." in first
    assert "/api/v2/personalization/outcomes 422 invalid" in second
    assert "a_secret_reference" not in caplog.text


def test_a_refusal_by_a_proxy_in_between_is_told_without_its_page(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.default_reply = Reply(403, b"<html>a long page</html>")
    ask(client(endpoint.url))
    assert "403" in caplog.text
    assert "a long page" not in caplog.text


def test_what_cannot_be_written_as_json_is_told_and_left(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    context = client(endpoint.url)
    assert context.context(purpose="p", customer=CustomerReferences(object())) == Context()
    with pytest.raises(TypeError):
        context.context(purpose="p", customer=CustomerReferences(object()), raise_errors=True)
    assert not endpoint.requests
    assert len(caplog.records) == 1


def test_a_connection_that_the_service_closed_meanwhile_is_opened_again(endpoint: Endpoint) -> None:
    endpoint.default_reply = json_reply(RETRIEVAL)
    context = client(endpoint.url)
    ask(context)
    endpoint.replies = [Reply(HANG_UP)]
    assert ask(context, raise_errors=True).retrieval_id == "r1"
    assert endpoint.connections == 2


def test_a_service_that_is_not_there_is_no_context() -> None:
    with pytest.raises(ServiceUnavailable, match="ConnectionRefusedError"):
        ask(client(f"http://127.0.0.1:{closed_port()}"), raise_errors=True)


def test_a_server_that_does_not_speak_tls_is_no_context() -> None:
    with silent_listener() as url, pytest.raises(ServiceUnavailable):
        ask(client(url.replace("http:", "https:"), timeout=0.25), raise_errors=True)


def test_no_more_than_some_connections_are_kept(endpoint: Endpoint) -> None:
    endpoint.default_reply = json_reply(RETRIEVAL)
    endpoint.gate.clear()
    context = client(endpoint.url)
    threads = [threading.Thread(target=ask, args=(context,)) for _ in range(http.MAX_IDLE_CONNECTIONS + 4)]
    for thread in threads:
        thread.start()
    while len(endpoint.requests) < len(threads):
        time.sleep(0.01)
    endpoint.gate.set()
    for thread in threads:
        thread.join()
    assert context._client._http
    assert len(context._client._http._idle_connections) <= http.MAX_IDLE_CONNECTIONS
