"""What was lost is told with the next batch, until a 2xx says that it arrived."""

import logging
import uuid
from typing import Any

import pytest
from agent_feedback import AgentFeedback, InvalidOption
from agent_feedback.telemetry.losses import LossReport, UnreportedLosses

from tests.sdk.conftest import MakeQueue
from tests.sdk.endpoint import HANG_UP, KEY, Endpoint, Reply, closed_port, put, wait_until
from tests.sdk.test_processes import run
from tests.sdk.test_refused_events import refusal


def sent_headers(endpoint: Endpoint, name: str) -> list[str | None]:
    return [request.headers.get(f"Agent-Feedback-{name}") for request in endpoint.requests]


def test_a_batch_names_its_sender_and_has_an_id_of_its_own(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    queue = make_queue()
    for number in range(2):
        put(queue, number)
        assert queue.flush()
    batch_ids = [uuid.UUID(batch_id) for batch_id in sent_headers(endpoint, "Batch") if batch_id]
    assert len(set(batch_ids)) == 2
    assert all(request.headers["User-Agent"].startswith("agent-feedback-python/") for request in endpoint.requests)
    assert sent_headers(endpoint, "Lost") == [None, None]


def test_a_loss_is_told_once_with_the_next_batch(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    queue = make_queue()
    queue.put({"number": object()})
    put(queue, 1)
    assert queue.flush()
    put(queue, 2)
    assert queue.flush()
    assert sent_headers(endpoint, "Lost") == ["unreadable=1", None]
    assert not queue.unreported_losses()


@pytest.mark.parametrize("status", [HANG_UP, 429, 503])
def test_a_repetition_has_the_same_id_and_the_same_losses(
    endpoint: Endpoint, make_queue: MakeQueue, status: int
) -> None:
    endpoint.replies += [Reply(status)]
    queue = make_queue()
    queue.put({"number": object()})
    put(queue, 1)
    assert queue.flush()
    assert sent_headers(endpoint, "Lost") == ["unreadable=1"] * 2
    # What got no answer may have been stored; a 429 says that it was not.
    assert (len(set(sent_headers(endpoint, "Batch"))) == 1) is (status != 429)
    assert not queue.unreported_losses()


def test_losses_that_a_refused_batch_carried_are_told_again(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.replies.append(Reply(413))
    queue = make_queue()
    queue.put({"number": object()})
    for number in range(2):
        put(queue, number)
        assert queue.flush()
    assert sent_headers(endpoint, "Lost") == ["unreadable=1", "unreadable=1;refused=1"]


def test_the_rest_of_a_refused_batch_is_a_batch_of_its_own(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.replies.append(refusal("/events/1"))
    queue = make_queue()
    put(queue, 1, 2, 3)
    assert queue.flush()
    assert len(set(sent_headers(endpoint, "Batch"))) == 2
    assert sent_headers(endpoint, "Lost") == [None, "refused=1"]


@pytest.mark.parametrize(("counted", "told"), [("2", None), ("1", "refused=1"), ("x", "refused=2"), ("9", None)])
def test_what_the_service_has_counted_as_refused_is_not_told(
    endpoint: Endpoint, make_queue: MakeQueue, counted: str, told: str | None
) -> None:
    reply = refusal("/events/0", "/events/1")
    endpoint.replies.append(reply._replace(headers=(("Agent-Feedback-Refused", counted),)))
    queue = make_queue()
    put(queue, 1, 2, 3)
    assert queue.flush()
    assert sent_headers(endpoint, "Lost") == [None, told]
    assert queue.counters == {"queued": 3, "sent": 1, "dropped_refused": 2}


@pytest.mark.parametrize("status", [HANG_UP, 503])
def test_a_batch_that_may_have_arrived_is_told_by_its_id(
    endpoint: Endpoint, make_queue: MakeQueue, status: int
) -> None:
    endpoint.replies += [Reply(status)] * 3
    queue = make_queue()
    queue.put({"number": object()})
    put(queue, 1, 2)
    assert queue.flush()
    for number in (3, 4):
        put(queue, number)
        assert queue.flush()
    batch_id = sent_headers(endpoint, "Batch")[0]
    assert sent_headers(endpoint, "Unanswered")[3:] == [f"{batch_id}:unreadable=1,undelivered=2", None]
    assert sent_headers(endpoint, "Lost")[3:] == ["unreadable=1;undelivered=2", None]


@pytest.mark.parametrize("status", [401, 429])
def test_a_request_that_was_repeated_on_a_new_connection_may_have_arrived(
    endpoint: Endpoint, make_queue: MakeQueue, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr("agent_feedback.telemetry.queue.UNAUTHORIZED_PAUSE_S", 0.01)
    # The idle connection is closed without an answer, and the answer to the repetition is no sign of its fate.
    endpoint.replies += [Reply(), Reply(HANG_UP), *[Reply(status)] * (1 if status == 401 else 3)]
    queue = make_queue()
    for number in range(3):
        put(queue, number)
        wait_until(queue.flush)
    batch_ids = sent_headers(endpoint, "Batch")
    assert len(set(batch_ids[1:-1])) == 1
    reason = "refused" if status == 401 else "undelivered"
    assert sent_headers(endpoint, "Unanswered")[-1] == f"{batch_ids[1]}:{reason}=1"


def test_a_service_that_was_not_reached_has_stored_nothing(make_queue: MakeQueue) -> None:
    queue = make_queue(f"http://127.0.0.1:{closed_port()}")
    put(queue, 1)
    assert queue.flush()
    assert queue.unreported_losses() == {"undelivered": 1}
    assert not queue._events._losses.take().unanswered


def test_a_batch_without_an_answer_is_not_changed_by_a_full_queue(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    endpoint.replies.append(Reply(HANG_UP))
    queue = make_queue(max_queue_size=3, on_drop=lambda *drop: drops.append(drop))
    drops: list[Any] = []
    put(queue, 1, 2, 3)
    wait_until(lambda: queue._events.waiting or endpoint.numbers[3:])
    put(queue, 4, 5, 6)
    assert queue.flush()
    assert endpoint.requests[1].events == endpoint.requests[0].events
    assert len(set(sent_headers(endpoint, "Batch")[:2])) == 1
    assert drops == []


def test_there_is_a_bound_of_batches_that_are_told_by_id() -> None:
    losses = UnreportedLosses()
    for number in range(40):
        losses.add_unanswered(str(uuid.UUID(int=number)), {"undelivered": 50})
    report = losses.take()
    assert (len(report.unanswered), report.counts) == (32, {"undelivered": 400})
    headers = report.headers(str(uuid.uuid4()))
    assert headers["Agent-Feedback-Lost"] == "undelivered=2000"
    assert max(map(len, headers.values())) < 4096


def test_a_count_has_nine_digits_at_most() -> None:
    assert LossReport({"queue_full": 10**12}).headers("x")["Agent-Feedback-Lost"] == "queue_full=999999999"


def test_the_company_hears_of_every_drop(endpoint: Endpoint, make_queue: MakeQueue) -> None:
    drops: list[tuple[str, int]] = []

    def on_drop(reason: str, count: int) -> None:
        drops.append((reason, count))
        raise RuntimeError("a mistake of the company's")

    endpoint.replies.append(Reply(400))
    queue = make_queue(on_drop=on_drop)
    queue.put({"number": object()})
    put(queue, 1, 2)
    assert queue.flush()
    assert drops == [("unreadable", 1), ("refused", 2)]


def test_what_hears_of_drops_must_be_a_function() -> None:
    with pytest.raises(InvalidOption, match="on_drop"):
        AgentFeedback(KEY, endpoint="https://feedback.example.com", on_drop="print")


def test_shutdown_says_what_the_service_was_not_told(
    make_queue: MakeQueue, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.default_reply = Reply(500)
    queue = make_queue()
    queue.put({"number": object()})
    put(queue, 1, 2)
    assert queue.shutdown() == 2
    assert "before the service was told of dropped events (unreadable=1, undelivered=2)" in caplog.text
    assert all(record.levelno == logging.WARNING for record in caplog.records)


def test_a_forked_worker_tells_its_own_losses_only(endpoint: Endpoint) -> None:
    run(
        endpoint.url,
        """
        import os, sys
        feedback.telemetry.put({"from": object()})
        child = os.fork()
        if not child:
            feedback.telemetry.put({"from": "worker"})
            sys.exit(feedback.shutdown())
        assert os.waitpid(child, 0)[1] == 0
        feedback.telemetry.put({"from": "parent"})
        """,
    )
    told = {request.events[0]["from"]: request.headers.get("Agent-Feedback-Lost") for request in endpoint.requests}
    assert told == {"worker": None, "parent": "unreadable=1"}
