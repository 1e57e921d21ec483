"""What the package does when the service limits it: it waits where that helps, and gives up where it does not."""

import json
import logging
import random
import time

import pytest
from agent_feedback.http.circuit_breaker import CircuitBreaker
from agent_feedback.http.client import HttpResponse, backoff_s
from agent_feedback.telemetry.refusals import exceeded_quota

from tests.sdk.conftest import MakeQueue
from tests.sdk.endpoint import Endpoint, Reply, put, wait_until

LIMITED = Reply(
    429, json.dumps({"error": "Wait.", "code": "rate_limited", "limit": "key"}).encode(), (("Retry-After", "1"),)
)
EXCEEDED = Reply(403, json.dumps({"error": "No more.", "code": "quota_exceeded", "quota": "events"}).encode())


def test_pauses_differ_and_leave_the_random_numbers_of_the_product_alone() -> None:
    state = random.getstate()
    pauses = {backoff_s(3, 1.0, 60.0) for _ in range(20)}
    assert random.getstate() == state
    assert len(pauses) > 1
    assert all(2 <= pause <= 4 for pause in pauses)


def test_a_limit_costs_no_attempt_and_loses_nothing(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.replies += [LIMITED, LIMITED]
    queue = make_queue(max_attempts=1)
    put(queue, 1, 2)
    assert queue.flush(10)
    assert endpoint.numbers == [1, 2] * 3
    assert queue.counters == {"queued": 2, "sent": 2}


def test_events_queue_while_a_limit_lasts_and_the_oldest_are_dropped_when_it_is_full(
    endpoint: Endpoint, make_queue: MakeQueue
) -> None:
    endpoint.replies.append(LIMITED)
    queue = make_queue(max_queue_size=3)
    put(queue, 1)
    wait_until(lambda: len(endpoint.requests) == 1)
    put(queue, 2, 3, 4, 5)
    assert queue.flush(10)
    assert endpoint.numbers == [1, 3, 4, 5]
    assert queue.counters == {"queued": 5, "sent": 3, "dropped_queue_full": 2}


def test_a_wait_is_no_longer_than_ten_minutes() -> None:
    assert HttpResponse(429, b"", "86400").retry_after_s == 600


def test_a_quota_ends_it_for_the_batch_with_one_warning(
    endpoint: Endpoint, make_queue: MakeQueue, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.replies += [EXCEEDED, EXCEEDED]
    queue = make_queue()
    for numbers in ((1, 2), (3,), (4,)):
        put(queue, *numbers)
        assert queue.flush(10)
    assert endpoint.numbers == [1, 2, 3, 4]
    assert queue.counters == {"queued": 4, "sent": 1, "dropped_refused": 3}
    assert [(record.levelno, "quota events" in record.getMessage()) for record in caplog.records] == [
        (logging.WARNING, True)
    ]


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b'{"code":"quota_exceeded","quota":"events"}', "events"),
        (b'{"code":"quota_exceeded","quota":"two\\nlines"}', "unnamed"),
        (b'{"code":"quota_exceeded"}', "unnamed"),
        (b'{"code":"forbidden"}', None),
        (b"[1]", None),
        (b"<html>", None),
    ],
)
def test_only_the_services_own_words_name_a_quota(body: bytes, name: str | None) -> None:
    assert exceeded_quota(HttpResponse(403, body)) == name
    assert exceeded_quota(HttpResponse(400, body)) is None


def test_customer_context_is_not_asked_for_before_a_limit_ends() -> None:
    breaker = CircuitBreaker(0.01)
    breaker.open(0.2)
    time.sleep(0.05)
    assert breaker.is_open()
    breaker.open()
    time.sleep(0.05)
    assert not breaker.is_open()
