"""A refusal costs the events that it names; without names it costs the batch; a 401 pauses sending."""

import json
import time
from typing import Any

import pytest
from agent_feedback.http.client import HttpResponse
from agent_feedback.telemetry import queue as telemetry
from agent_feedback.telemetry.queue import refused_indexes

from tests.sdk.conftest import MakeQueue
from tests.sdk.endpoint import Endpoint, Reply, put, wait_until


def refusal(*pointers: Any, status: int = 422) -> Reply:
    errors = [{"pointer": pointer, "code": "pattern", "message": "No."} for pointer in pointers]
    return Reply(status, json.dumps({"error": "No.", "code": "invalid", "errors": errors}).encode())


@pytest.mark.parametrize("status", [400, 422])
def test_named_events_are_dropped_and_the_others_sent_again(
    endpoint: Endpoint, make_queue: MakeQueue, status: int
) -> None:
    endpoint.replies.append(refusal("/events/1/runtimeHint", "/events/3/surface", "/events/3", status=status))
    queue = make_queue()
    put(queue, *range(5))
    assert queue.flush()
    assert [[event["number"] for event in request.events] for request in endpoint.requests] == [
        [0, 1, 2, 3, 4],
        [0, 2, 4],
    ]
    assert queue.counters == {"queued": 5, "sent": 3, "dropped_refused": 2}


def test_the_others_are_sent_again_at_once(
    endpoint: Endpoint, make_queue: MakeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "FIRST_BACKOFF_S", 60)
    endpoint.replies.append(refusal("/events/0/surface"))
    queue = make_queue(flush_interval=60)
    put(queue, 1, 2)
    assert queue.flush(5)
    assert endpoint.numbers == [1, 2, 2]


def test_a_refusal_costs_no_attempt(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    # More rounds than attempts: each of them names another event.
    endpoint.replies += [refusal("/events/0") for _ in range(6)]
    queue = make_queue(max_attempts=1)
    put(queue, *range(8))
    assert queue.flush()
    assert queue.counters == {"queued": 8, "sent": 2, "dropped_refused": 6}


def test_the_others_are_tried_again_when_the_service_is_busy(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.replies += [refusal("/events/0/surface"), Reply(503)]
    queue = make_queue()
    put(queue, 1, 2)
    assert queue.flush()
    assert endpoint.numbers == [1, 2, 2, 2]
    assert queue.counters == {"queued": 2, "sent": 1, "dropped_refused": 1}


def test_a_batch_whose_events_are_all_named_is_not_sent_again(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.replies.append(refusal("/events/0/surface", "/events/1/surface"))
    queue = make_queue()
    put(queue, 1, 2)
    assert queue.flush()
    assert len(endpoint.requests) == 1
    assert queue.counters == {"queued": 2, "dropped_refused": 2}


@pytest.mark.parametrize(
    "pointers",
    [
        ("/events/2/surface",),
        ("/events/0/surface", "/events/2"),
        ("/events/0/surface", "/extra"),
        ("/events",),
        ("/events/-1",),
        ("/events/00",),
        ("/events/0x",),
        ("/events/" + "9" * 5000,),
        ("events/0",),
        (None,),
        (),
    ],
)
def test_a_pointer_outside_the_batch_ends_the_batch(
    endpoint: Endpoint, make_queue: MakeQueue, pointers: tuple[Any, ...]
) -> None:
    endpoint.replies.append(refusal(*pointers))
    queue = make_queue()
    put(queue, 1, 2)
    assert queue.flush()
    assert len(endpoint.requests) == 1
    assert queue.counters == {"queued": 2, "dropped_refused": 2}


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"errors": 1}', b'{"errors": [1]}', b'{"a":' * 100_000])
def test_a_refusal_that_cannot_be_read_names_no_event(body: bytes) -> None:
    assert refused_indexes(HttpResponse(422, body), 2) == set()


@pytest.mark.parametrize("status", [403, 404, 409, 413])
def test_another_status_ends_the_batch_whatever_it_names(
    endpoint: Endpoint, make_queue: MakeQueue, status: int
) -> None:
    endpoint.replies.append(refusal("/events/0/surface", status=status))
    queue = make_queue()
    put(queue, 1, 2)
    assert queue.flush()
    assert queue.counters == {"queued": 2, "dropped_refused": 2}


def test_a_401_pauses_sending(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.default_reply = Reply(401)
    queue = make_queue()
    put(queue, 1)
    assert queue.flush()
    put(queue, 2, 3)
    time.sleep(0.3)
    started_at = time.monotonic()
    assert not queue.flush()
    assert time.monotonic() - started_at < 5
    assert endpoint.numbers == [1]
    assert queue.counters == {"queued": 3, "dropped_refused": 1}


def test_a_pause_lasts_a_minute() -> None:
    assert telemetry.UNAUTHORIZED_PAUSE_S == 60


def test_sending_goes_on_after_the_pause(
    endpoint: Endpoint, make_queue: MakeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "UNAUTHORIZED_PAUSE_S", 0.2)
    endpoint.replies.append(Reply(401))
    queue = make_queue()
    put(queue, 1)
    queue.flush()
    put(queue, 2)
    wait_until(lambda: endpoint.numbers == [1, 2])
    assert queue.flush()
    assert queue.counters == {"queued": 2, "sent": 1, "dropped_refused": 1}


def test_shutdown_does_not_wait_for_the_end_of_the_pause(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.default_reply = Reply(401)
    queue = make_queue()
    put(queue, 1)
    queue.flush()
    put(queue, 2, 3)
    started_at = time.monotonic()
    assert queue.shutdown() == 2
    assert time.monotonic() - started_at < 5


def test_requests_name_the_sdk(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    queue = make_queue()
    put(queue, 1)
    assert queue.flush()
    assert endpoint.requests[0].headers["User-Agent"] == "agent-feedback-python/0.1.0"
