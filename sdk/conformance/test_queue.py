"""The telemetry queue: when it sends, what it repeats, what it drops, and what it tells of it."""

import re
import time
from itertools import pairwise
from typing import Any

import pytest

from conformance.conftest import Launch
from conformance.processes import Product
from conformance.protocol import CONTRACT, KEY, PATHS, TIME_ORDERED, validate
from conformance.recorder import CUT, RUBBISH, Recorded, Reply

PATH = PATHS["telemetry"]
BATCH_SIZE = CONTRACT["telemetry"]["batchSize"]
LEDGER: dict[str, str] = {kind: name.lower() for kind, name in CONTRACT["ledger"]["headers"].items()}
FIRST_BACKOFF_S = CONTRACT["telemetry"]["firstBackoffMs"] * CONTRACT["telemetry"]["jitter"][0] / 1000

USER_AGENT = re.compile(r"agent-feedback-[a-z]{1,16}/[0-9A-Za-z.+-]{1,32}")
TOLERANCE_S = 0.05
"""Two clocks, of which one is read earlier than the other."""

MAX_ROUNDS = 4
"""A machine that is busy with something else may lose a round: the recorder is no fast service then."""

NO_ANSWERS = {
    "500": Reply(500),
    "502": Reply(502),
    "503": Reply(503),
    "599": Reply(599),
    "cut": CUT,
    "rubbish": RUBBISH,
    "too slow": Reply(202, delay_s=0.6),
}
REFUSALS = (301, 302, 303, 307, 308, 400, 402, 403, 404, 405, 409, 410, 411, 413, 415, 422, 431, 451)


@pytest.fixture
def product(launch: Launch) -> Product:
    """A product that sends when it is flushed, or when a batch is full."""
    return launch([], flushInterval=60_000, timeout=300)


class Counted:
    """What the counters say since this was made."""

    def __init__(self, product: Product) -> None:
        self._product, self._before = product, product.counters()

    def difference(self) -> dict[str, Any]:
        before, after = self._before, self._product.counters()
        reasons = sorted({*before["dropped"], *after["dropped"]})
        dropped = {reason: after["dropped"].get(reason, 0) - before["dropped"].get(reason, 0) for reason in reasons}
        return {
            "queued": after["queued"] - before["queued"],
            "sent": after["sent"] - before["sent"],
            "dropped": {reason: count for reason, count in dropped.items() if count},
        }


def sizes(requests: list[Recorded]) -> list[int]:
    return [len(request.events) for request in requests]


def header(request: Recorded, kind: str) -> str | None:
    return request.headers.get(LEDGER[kind])


def next_batch(product: Product) -> Recorded:
    """Send one more event, and return the request that carries it."""
    count = len(product.recorder.of(PATH))
    product.put(1)
    product.flush()
    return product.recorder.wait_for(PATH, count + 1)[-1]


def test_a_few_events_are_sent_after_the_interval(launch: Launch) -> None:
    product = launch([])
    started_at = time.monotonic()
    product.put(3)
    request = product.recorder.wait_for(PATH)[0]
    assert len(request.events) == 3
    assert 0.3 < request.at - started_at < 5


def test_a_full_batch_is_sent_at_once(product: Product) -> None:
    product.put(BATCH_SIZE - 1)
    time.sleep(0.3)
    assert product.recorder.of(PATH) == []
    product.put(1)
    assert sizes(product.recorder.wait_for(PATH)) == [BATCH_SIZE]


def test_a_batch_has_at_most_fifty_events(product: Product) -> None:
    product.put(4 * BATCH_SIZE + 20)
    product.flush()
    assert sum(sizes(product.recorder.of(PATH))) == 4 * BATCH_SIZE + 20
    assert max(sizes(product.recorder.of(PATH))) == BATCH_SIZE


def test_what_a_batch_is(product: Product) -> None:
    product.put(2)
    product.flush()
    (request,) = product.recorder.of(PATH)
    validate("telemetry-batch", request.content)
    assert (request.method, request.headers["authorization"]) == ("POST", f"Bearer {KEY}")
    assert request.headers["content-type"].startswith("application/json")
    assert USER_AGENT.fullmatch(request.headers["user-agent"])
    assert TIME_ORDERED.fullmatch(header(request, "batch") or "")
    assert (header(request, "lost"), header(request, "unanswered")) == (None, None)
    ids = [event["interactionId"] for event in request.events]
    assert all(TIME_ORDERED.fullmatch(text) for text in ids)
    assert len(set(ids)) == 2


def test_the_counters(product: Product) -> None:
    counted = Counted(product)
    product.put(7)
    assert counted.difference() == {"queued": 7, "sent": 0, "dropped": {}}
    product.flush()
    assert counted.difference() == {"queued": 7, "sent": 7, "dropped": {}}


def test_only_one_request_at_a_time(product: Product) -> None:
    with product.recorder.closed(PATH):
        product.put(3 * BATCH_SIZE)
        product.recorder.wait_for(PATH)
        time.sleep(0.1)
    product.flush()
    assert product.recorder.peaks[PATH] == 1


def test_five_thousand_events_a_second_lose_none(launch: Launch) -> None:
    for _ in range(MAX_ROUNDS):
        product = launch([])
        counted = Counted(product)
        product.put(5000, per_second=5000)
        product.flush()
        if counted.difference() == {"queued": 5000, "sent": 5000, "dropped": {}}:
            break
    assert counted.difference() == {"queued": 5000, "sent": 5000, "dropped": {}}
    ids = {event["interactionId"] for request in product.recorder.of(PATH) for event in request.events}
    assert len(ids) == 5000


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_may_have_been_stored_is_repeated_unchanged(product: Product, name: str) -> None:
    counted = Counted(product)
    product.recorder.script(PATH, NO_ANSWERS[name])
    product.put(3)
    product.flush()
    first, second = product.recorder.of(PATH)
    assert (first.body, header(first, "batch")) == (second.body, header(second, "batch"))
    # A connection that was idle may be replaced at once.
    assert name == "cut" or second.at - first.at > FIRST_BACKOFF_S - TOLERANCE_S
    assert counted.difference() == {"queued": 3, "sent": 3, "dropped": {}}


@pytest.mark.parametrize("status", [408, 429])
def test_what_was_not_stored_is_sent_again(product: Product, status: int) -> None:
    counted = Counted(product)
    product.recorder.script(PATH, Reply(status))
    product.put(3)
    product.flush()
    first, second = product.recorder.of(PATH)
    assert first.events == second.events
    assert second.at - first.at > FIRST_BACKOFF_S - TOLERANCE_S
    assert counted.difference() == {"queued": 3, "sent": 3, "dropped": {}}


@pytest.mark.parametrize("reply", [Reply(500), RUBBISH, Reply(408)], ids=["500", "rubbish", "408"])
def test_three_tries(product: Product, reply: Reply) -> None:
    counted = Counted(product)
    product.recorder.always(PATH, reply)
    product.put(2)
    product.flush()
    assert sizes(product.recorder.of(PATH)) == [2, 2, 2]
    assert counted.difference() == {"queued": 2, "sent": 0, "dropped": {"undelivered": 2}}
    given_up = header(product.recorder.of(PATH)[-1], "batch")
    product.recorder.always(PATH, Reply(202))
    request = next_batch(product)
    assert header(request, "lost") == "undelivered=2"
    is_uncertain = reply.status != 408
    assert header(request, "unanswered") == (f"{given_up}:undelivered=2" if is_uncertain else None)
    assert header(next_batch(product), "lost") is None, "a loss is told once"


def test_a_loss_is_told_until_it_was_heard(product: Product) -> None:
    product.recorder.script(PATH, Reply(413), Reply(413))
    product.put(2)
    product.flush()
    assert header(next_batch(product), "lost") == "refused=2", "which is refused as well"
    assert header(next_batch(product), "lost") == "refused=3"
    assert header(next_batch(product), "lost") is None


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after(product: Product, status: int, form: str) -> None:
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 2))
    value = "1" if form == "seconds" else date
    product.recorder.script(PATH, Reply(status, headers=(("Retry-After", value),)))
    product.put(1)
    product.flush()
    first, second = product.recorder.of(PATH)
    assert second.at - first.at > 1 - TOLERANCE_S


def test_a_limit_that_says_when_it_ends_is_no_failed_try(launch: Launch) -> None:
    product = launch([], flushInterval=60_000, maxAttempts=1)
    counted = Counted(product)
    product.recorder.script(PATH, Reply(429, headers=(("Retry-After", "1"),)))
    product.put(1)
    product.flush()
    assert counted.difference() == {"queued": 1, "sent": 1, "dropped": {}}


def test_the_number_of_tries_is_an_option(launch: Launch) -> None:
    product = launch([], flushInterval=60_000, maxAttempts=1)
    counted = Counted(product)
    product.recorder.script(PATH, Reply(500))
    product.put(1)
    product.flush()
    assert counted.difference() == {"queued": 1, "sent": 0, "dropped": {"undelivered": 1}}
    assert len(product.recorder.of(PATH)) == 1


@pytest.mark.parametrize("status", REFUSALS)
def test_other_statuses_end_the_batch(product: Product, status: int) -> None:
    counted = Counted(product)
    location = (("Location", f"{product.recorder.url}/elsewhere"),)
    product.recorder.script(PATH, Reply(status, {"error": "No.", "code": "no"}, location))
    product.put(2)
    product.flush()
    assert counted.difference() == {"queued": 2, "sent": 0, "dropped": {"refused": 2}}
    assert sizes(product.recorder.all()) == [2], "it is neither repeated nor redirected"
    request = next_batch(product)
    assert (header(request, "lost"), header(request, "unanswered")) == ("refused=2", None)


def test_a_full_queue_drops_its_oldest_events(launch: Launch) -> None:
    product = launch([], flushInterval=60_000, maxQueueSize=5)
    counted = Counted(product)
    product.put(5)
    time.sleep(0.05)
    product.put(2)
    assert counted.difference() == {"queued": 7, "sent": 0, "dropped": {"queue_full": 2}}
    product.flush()
    (request,) = product.recorder.of(PATH)
    milliseconds = [int(event["interactionId"].replace("-", "")[:12], 16) for event in request.events]
    gaps = [later - earlier for earlier, later in pairwise(milliseconds)]
    assert (len(milliseconds), gaps.index(max(gaps))) == (5, 2), "three of the first five are left, in their order"
    assert header(request, "lost") == "queue_full=2"


def test_the_queue_takes_a_thousand_events(launch: Launch) -> None:
    product = launch([], flushInterval=50)
    counted = Counted(product)
    with product.recorder.closed(PATH):
        product.put(1)
        product.recorder.wait_for(PATH)
        product.put(1003)
        assert counted.difference()["dropped"] == {"queue_full": 3}


def test_a_401_pauses(launch: Launch) -> None:
    product = launch([], maxQueueSize=999, flushInterval=20)
    product.recorder.always(PATH, Reply(401))
    product.put(2)
    product.recorder.wait_for(PATH)
    product.flush()
    assert product.counters()["dropped"] == {"refused": 2}
    product.put(60)
    started_at = time.monotonic()
    product.flush()
    assert time.monotonic() - started_at < 5, "a flush returns while sending is paused"
    time.sleep(0.7)
    assert len(product.recorder.of(PATH)) == 1, "the key is not tried again"


def test_few_warnings_and_no_key_in_them(launch: Launch) -> None:
    product = launch([], maxQueueSize=2, maxAttempts=1, flushInterval=60_000)
    product.recorder.always(PATH, Reply(500))
    for _ in range(3):
        product.put(5)
        product.flush()
    lines = product.stderr.splitlines()
    assert 1 <= len(lines) <= 4, "one of the first failure, one of the first loss"
    assert KEY.rsplit("_", 1)[1] not in product.stderr
