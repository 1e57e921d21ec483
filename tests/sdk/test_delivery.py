"""Which failures are tried again, how often and when, and what is told of them."""

import logging
import time
from email.utils import formatdate

import pytest
from agent_feedback import AgentFeedback

from tests.sdk.conftest import MakeQueue
from tests.sdk.endpoint import HANG_UP, KEY, Endpoint, Reply, closed_port, put, wait_until


@pytest.mark.parametrize("status", [HANG_UP, 408, 429, 500, 503, 599])
def test_what_may_pass_is_tried_again(endpoint: Endpoint, make_queue: MakeQueue, status: int) -> None:
    endpoint.replies += [Reply(status), Reply(status)]
    queue = make_queue()
    put(queue, 1, 2)
    assert queue.flush()
    assert endpoint.numbers == [1, 2] * 3
    assert queue.counters == {"queued": 2, "sent": 2}


@pytest.mark.parametrize("status", [HANG_UP, 429, 503])
def test_no_event_is_tried_more_than_three_times(endpoint: Endpoint, make_queue: MakeQueue, status: int) -> None:
    endpoint.default_reply = Reply(status)
    queue = make_queue()
    put(queue, 1)
    assert queue.flush()
    assert endpoint.numbers == [1, 1, 1]
    assert queue.counters == {"queued": 1, "dropped_undelivered": 1}


def test_a_service_that_is_not_there_is_tried_three_times(make_queue: MakeQueue) -> None:
    queue = make_queue(f"http://127.0.0.1:{closed_port()}")
    put(queue, 1)
    assert queue.flush()
    assert queue.counters == {"queued": 1, "dropped_undelivered": 1}


def test_a_service_that_does_not_answer_in_time_is_a_failure(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.gate.clear()
    queue = make_queue(timeout=0.05)
    put(queue, 1)
    assert queue.flush()
    assert queue.counters == {"queued": 1, "dropped_undelivered": 1}


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 403, 404, 413, 422])
def test_any_other_status_ends_it_at_once(endpoint: Endpoint, make_queue: MakeQueue, status: int) -> None:
    endpoint.default_reply = Reply(status, headers=(("Location", endpoint.url + "/elsewhere"),))
    queue = make_queue()
    put(queue, 1)
    assert queue.flush()
    assert [request.path for request in endpoint.requests] == ["/api/v2/telemetry/batches"]
    assert queue.counters == {"queued": 1, "dropped_refused": 1}


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honoured(endpoint: Endpoint, make_queue: MakeQueue, status: int) -> None:
    endpoint.replies.append(Reply(status, headers=(("Retry-After", "1"),)))
    queue = make_queue()
    put(queue, 1)
    assert queue.flush()
    first, second = (request.at for request in endpoint.requests)
    assert second - first >= 0.95


def test_a_date_in_retry_after_is_honoured(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.replies.append(Reply(429, headers=(("Retry-After", formatdate(time.time() + 2, usegmt=True)),)))
    queue = make_queue()
    put(queue, 1)
    assert queue.flush()
    first, second = (request.at for request in endpoint.requests)
    assert second - first >= 0.8


@pytest.mark.parametrize("text", ["\xb2", "-5", "soon", "", "1.5", "Mon, 99 Foo 2026"])
def test_a_retry_after_that_cannot_be_read_is_ignored(endpoint: Endpoint, make_queue: MakeQueue, text: str) -> None:
    endpoint.replies.append(Reply(503, headers=(("Retry-After", text),)))
    queue = make_queue()
    put(queue, 1)
    assert queue.flush(2)
    assert queue.counters == {"queued": 1, "sent": 1}


def test_an_idle_connection_that_the_service_has_closed_is_no_failure(
    endpoint: Endpoint, make_queue: MakeQueue, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.replies += [Reply(), Reply(HANG_UP)]
    queue = make_queue(max_attempts=1)
    for number in (1, 2):
        put(queue, number)
        assert queue.flush()
    assert queue.counters == {"queued": 2, "sent": 2}
    assert not caplog.records


def test_it_warns_once_of_failures_and_once_of_drops(
    endpoint: Endpoint, make_queue: MakeQueue, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.default_reply = Reply(500)
    queue = make_queue()
    for number in range(2):
        put(queue, number)
        assert queue.flush()
    wait_until(lambda: len(caplog.records) == 2)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert "could not be delivered (status 500)" in caplog.text
    assert "were dropped (undelivered)" in caplog.text
    assert KEY not in caplog.text


def test_the_key_is_not_in_what_is_printed() -> None:
    feedback = AgentFeedback(KEY, endpoint="https://feedback.example.com")
    for text in (repr(feedback), repr(feedback.options), repr(feedback.telemetry), str(feedback.options.api_key)):
        assert "conformance_secret" not in text
