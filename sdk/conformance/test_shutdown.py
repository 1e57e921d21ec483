"""The end of a process: what waits is sent, what is lost is said, and it does not take for ever."""

import time

from conformance.conftest import Launch
from conformance.protocol import PATHS
from conformance.recorder import RUBBISH, Reply
from conformance.routes import route

PATH = PATHS["telemetry"]


def test_what_waits_is_sent(start_alone: Launch) -> None:
    product = start_alone(flushInterval=60_000)
    product.wait_until_it_listens()
    product.put(7)
    assert product.terminate() == {"queued": 7, "sent": 7, "dropped": {}}
    assert sum(len(request.events) for request in product.recorder.of(PATH)) == 7


def test_responses_too(start_alone: Launch) -> None:
    product = start_alone([route("/orders")], flushInterval=60_000)
    product.wait_until_it_listens()
    product.get("/orders")
    assert product.terminate() == {"queued": 1, "sent": 1, "dropped": {}}


def test_nothing_waits(start_alone: Launch) -> None:
    product = start_alone()
    product.wait_until_it_listens()
    assert product.terminate() == {"queued": 0, "sent": 0, "dropped": {}}
    assert product.recorder.all() == []


def test_what_cannot_be_sent_in_time_is_lost(start_alone: Launch) -> None:
    product = start_alone(flushInterval=60_000, shutdownTimeout=400)
    product.wait_until_it_listens()
    product.recorder.always(PATH, Reply(503, headers=(("Retry-After", "60"),)))
    product.put(3)
    started_at = time.monotonic()
    assert product.terminate() == {"queued": 3, "sent": 0, "dropped": {"shutdown": 3}}
    assert 0.3 < time.monotonic() - started_at < 8


def test_what_is_answered_with_rubbish_is_undelivered(start_alone: Launch) -> None:
    product = start_alone(flushInterval=60_000, maxAttempts=2)
    product.wait_until_it_listens()
    product.recorder.always(PATH, RUBBISH)
    product.put(3)
    assert product.terminate() == {"queued": 3, "sent": 0, "dropped": {"undelivered": 3}}
    assert len(product.recorder.of(PATH)) == 2


def test_a_pause_after_a_401_does_not_hold_it_up(start_alone: Launch) -> None:
    product = start_alone(flushInterval=20)
    product.wait_until_it_listens()
    product.recorder.always(PATH, Reply(401))
    product.put(1)
    product.recorder.wait_for(PATH)
    product.put(2)
    assert product.terminate() == {"queued": 3, "sent": 0, "dropped": {"refused": 1, "shutdown": 2}}
