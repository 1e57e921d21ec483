"""The queue: what waits, what goes together, what is dropped, and how it ends."""

import json
import threading
import time

import pytest
from agent_feedback import AgentFeedback
from agent_feedback.telemetry import queue as queue_module

from tests.sdk.conftest import MakeQueue
from tests.sdk.endpoint import KEY, Endpoint, Reply, closed_port, put, wait_until


def test_a_request_is_what_the_service_takes(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    queue = make_queue(endpoint.url + "/base")
    put(queue, 1)
    assert queue.flush()
    request = endpoint.requests[0]
    assert request.path == "/base/api/v2/telemetry/batches"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.headers["Content-Type"] == "application/json"
    assert json.loads(request.body) == {"events": [{"number": 1}]}


def test_fifty_events_go_at_once(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    put(make_queue(flush_interval=60), *range(50))
    wait_until(lambda: len(endpoint.events) == 50)


def test_fewer_than_fifty_go_after_half_a_second(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    started_at = time.monotonic()
    put(make_queue(flush_interval=0.5), *range(49))
    wait_until(lambda: endpoint.requests)
    assert endpoint.numbers == list(range(49))
    assert endpoint.requests[0].at - started_at > 0.4


def test_the_interval_begins_with_the_oldest_event_and_not_when_the_thread_is_free(
    endpoint: Endpoint, make_queue: MakeQueue
) -> None:
    endpoint.gate.clear()
    queue = make_queue(flush_interval=60)
    put(queue, *range(50))
    wait_until(lambda: endpoint.requests)
    put(queue, 50, 51)
    oldest_event = queue._events.events[0]
    queue._events.events[0] = oldest_event._replace(put_at=oldest_event.put_at - 60)
    endpoint.gate.set()
    wait_until(lambda: endpoint.numbers == list(range(52)))


def test_half_a_second_is_the_default() -> None:
    options = AgentFeedback(KEY, endpoint="https://feedback.example.com").options
    assert (options.flush_interval, options.max_queue_size, options.max_attempts) == (0.5, 1000, 3)


def test_no_request_has_more_than_fifty_and_the_order_stays(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    queue = make_queue()
    put(queue, *range(470))
    assert queue.flush()
    assert max(len(request.events) for request in endpoint.requests) <= 50
    assert endpoint.numbers == list(range(470))
    assert queue.counters == {"queued": 470, "sent": 470}


def test_one_connection_is_kept(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    queue = make_queue()
    for number in range(5):
        put(queue, number)
        queue.flush()
    assert (len(endpoint.requests), endpoint.connections) == (5, 1)


def test_a_full_queue_drops_the_oldest(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.gate.clear()
    queue = make_queue(max_queue_size=60)
    put(queue, *range(50))
    wait_until(lambda: endpoint.requests)
    put(queue, *range(50, 115))
    endpoint.gate.set()
    assert queue.flush()
    assert endpoint.numbers == [*range(50), *range(55, 115)]
    assert queue.counters == {"queued": 115, "sent": 110, "dropped_queue_full": 5}


def test_what_is_put_back_into_a_full_queue_is_the_oldest(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.replies.append(Reply(503))
    endpoint.gate.clear()
    queue = make_queue(max_queue_size=60)
    put(queue, *range(50))
    wait_until(lambda: endpoint.requests)
    put(queue, *range(50, 100))
    endpoint.gate.set()
    assert queue.flush()
    assert endpoint.numbers[50:] == list(range(40, 100))
    assert queue.counters == {"queued": 100, "sent": 60, "dropped_queue_full": 40}


def test_put_does_not_wait_for_a_service_that_hangs(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.gate.clear()
    queue = make_queue()
    put(queue, *range(50))
    wait_until(lambda: endpoint.requests)
    started_at = time.monotonic()
    put(queue, *range(10_000))
    assert time.monotonic() - started_at < 2


ENDLESS: list[object] = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(
    "value", [object(), float("nan"), {1, 2}, b"bytes", ENDLESS], ids=lambda value: type(value).__name__
)
def test_an_event_that_is_no_json_is_dropped_alone(endpoint: Endpoint, make_queue: MakeQueue, value: object) -> None:
    queue = make_queue()
    put(queue, 1)
    queue.put({"number": value})
    put(queue, 2)
    assert queue.flush()
    assert endpoint.numbers == [1, 2]
    assert queue.counters == {"queued": 3, "sent": 2, "dropped_unreadable": 1}


def test_put_does_not_raise_without_a_thread_and_sends_when_there_is_one(
    endpoint: Endpoint, make_queue: MakeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    queue = make_queue()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        put(queue, 1)
        assert not queue.flush()
    put(queue, 2)
    assert queue.flush()
    assert endpoint.numbers == [1, 2]


def test_put_does_not_raise_when_the_log_does(make_queue: MakeQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(queue_module.logger, "warning", refuse)
    queue = make_queue(f"http://127.0.0.1:{closed_port()}", max_queue_size=1)
    put(queue, *range(60))
    assert queue.flush()


def test_the_thread_outlives_an_unexpected_mistake(
    endpoint: Endpoint, make_queue: MakeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("a mistake")

    queue = make_queue(max_attempts=1)
    with monkeypatch.context() as patch:
        patch.setattr(queue_module.HttpClient, "post", fail)
        put(queue, 1)
        assert queue.flush()
    put(queue, 2)
    assert queue.flush()
    assert endpoint.numbers == [2]


def test_a_long_outage_does_not_end_the_thread(make_queue: MakeQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_module, "MAX_BACKOFF_S", 0)
    queue = make_queue(f"http://127.0.0.1:{closed_port()}", max_attempts=1500, flush_interval=0.00001)
    put(queue, 1)
    assert queue.flush()
    assert queue.counters == {"queued": 1, "dropped_undelivered": 1}


def test_flush_sends_what_waits_now(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    queue = make_queue(flush_interval=60)
    put(queue, 1)
    assert queue.flush(5)
    assert endpoint.numbers == [1]


def test_flush_says_when_it_was_not_in_time(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.gate.clear()
    queue = make_queue()
    put(queue, 1)
    assert not queue.flush(0.05)


def test_flush_of_an_empty_queue_is_done_at_once(make_queue: MakeQueue) -> None:
    assert make_queue().flush(0)


def test_shutdown_sends_what_waits_and_loses_nothing(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    queue = make_queue(flush_interval=60)
    put(queue, *range(120))
    assert queue.shutdown() == 0
    assert endpoint.numbers == list(range(120))


def test_shutdown_reports_what_was_still_waiting_or_on_its_way(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.gate.clear()
    queue = make_queue()
    put(queue, *range(70))
    assert queue.shutdown(0.1) == 70
    assert queue.counters["dropped_shutdown"] == 20


def test_shutdown_reports_what_the_service_did_not_take(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.default_reply = Reply(500)
    queue = make_queue(flush_interval=60)
    put(queue, 1, 2, 3)
    assert queue.shutdown() == 3


def test_a_batch_that_fails_after_shutdown_is_counted(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.gate.clear()
    endpoint.default_reply = Reply(500)
    queue = make_queue()
    put(queue, 1)
    assert queue.shutdown(0.1) == 1
    endpoint.gate.set()
    wait_until(lambda: queue.counters["dropped_shutdown"] == 1)


def test_shutdown_again_is_nothing(make_queue: MakeQueue) -> None:
    queue = make_queue()
    put(queue, 1)
    assert (queue.shutdown(), queue.shutdown()) == (0, 0)


def test_what_is_put_after_shutdown_is_counted_as_lost(
    endpoint: Endpoint, make_queue: MakeQueue, caplog: pytest.LogCaptureFixture
) -> None:
    queue = make_queue()
    queue.shutdown()
    put(queue, 1, 2)
    assert queue.counters == {"queued": 2, "dropped_shutdown": 2}
    assert "were dropped (shutdown)" in caplog.text
    assert not endpoint.requests


def test_the_thread_ends_with_shutdown(make_queue: MakeQueue) -> None:
    queue = make_queue()
    put(queue, 1)
    queue.shutdown()
    assert queue._thread is not None
    queue._thread.join(5)
    assert not queue._thread.is_alive()


def test_many_threads_lose_and_double_nothing(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    queue = make_queue(max_queue_size=5000)
    threads = [threading.Thread(target=put, args=(queue, *range(at, at + 500))) for at in range(0, 4000, 500)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert queue.flush()
    assert sorted(endpoint.numbers) == list(range(4000))
