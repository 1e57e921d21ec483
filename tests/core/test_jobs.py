"""The job notifier."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from app.core.jobs import MAX_ORIGINS, PAUSE_S, Job, JobNotifier
from tests.journeys.stack import wait_until


class Broker:
    """Replaces the connection of a notifier to its broker: records the messages, and can be unavailable."""

    def __init__(self, notifier: JobNotifier, monkeypatch: pytest.MonkeyPatch) -> None:
        self.messages: list[str] = []
        self.is_unavailable = False
        self.failures = 0
        monkeypatch.setattr(notifier._celery, "send_task", self._send)

    def _send(self, name: str, **_: Any) -> None:
        if self.is_unavailable:
            self.failures += 1
            raise ConnectionError
        self.messages.append(str(name))


@pytest.fixture
def notifier() -> JobNotifier:
    return JobNotifier("redis://127.0.0.1:1/0")


@pytest.fixture
def broker(notifier: JobNotifier, monkeypatch: pytest.MonkeyPatch) -> Broker:
    return Broker(notifier, monkeypatch)


def test_many_notifications_between_two_messages_become_one_message(notifier: JobNotifier, broker: Broker) -> None:
    notifier.notify(Job.PERSIST_TELEMETRY)
    wait_until(lambda: broker.messages, 5)
    threads = [threading.Thread(target=notifier.notify, args=(Job.PERSIST_TELEMETRY,)) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broker.messages == [Job.PERSIST_TELEMETRY]
    wait_until(lambda: len(broker.messages) > 1, 5)
    time.sleep(1.5 * PAUSE_S)
    assert broker.messages == [Job.PERSIST_TELEMETRY] * 2


def test_a_notification_after_a_message_is_a_message_of_its_own(notifier: JobNotifier, broker: Broker) -> None:
    for number in (1, 2):
        notifier.notify(Job.PROMOTE_INTERACTIONS)
        wait_until(lambda number=number: len(broker.messages) == number, 5)


def test_an_unavailable_broker_is_retried_until_it_is_available(notifier: JobNotifier, broker: Broker) -> None:
    broker.is_unavailable = True
    started_at = time.monotonic()
    notifier.notify(Job.PERSIST_TELEMETRY)
    assert time.monotonic() - started_at < 0.1
    time.sleep(0.5)
    broker.is_unavailable = False
    wait_until(lambda: broker.messages == [Job.PERSIST_TELEMETRY], 5)


def test_an_unreachable_broker_is_reported_quickly(notifier: JobNotifier) -> None:
    started_at = time.monotonic()
    assert not notifier.is_broker_reachable()
    assert time.monotonic() - started_at < 3


class RecordedTracing:
    """Replaces the traces of a process: records which origins a message was sent for."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, list[Any]]] = []

    @contextmanager
    def sending(self, job: str, origins: Sequence[Any]) -> Iterator[dict[str, Any]]:
        self.sent.append((job, list(origins)))
        yield {"traceparent": str(origins[0])}


def test_a_message_stands_for_every_request_before_it_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    tracing = RecordedTracing()
    notifier = JobNotifier("redis://127.0.0.1:1/0", tracing)  # type: ignore[arg-type]  # of the methods that it calls
    broker = Broker(notifier, monkeypatch)
    broker.is_unavailable = True
    # A request whose trace is not recorded.
    notifier.notify(Job.PERSIST_TELEMETRY)
    wait_until(lambda: broker.failures, 5)
    for origin in range(MAX_ORIGINS + 5):
        notifier.notify(Job.PROMOTE_INTERACTIONS, origin)
    wait_until(lambda: tracing.sent, 5)
    broker.is_unavailable = False
    wait_until(lambda: len(broker.messages) == 2, 5)
    # Those of a message that could not be sent are kept, and no more.
    assert tracing.sent == [(Job.PROMOTE_INTERACTIONS, list(range(MAX_ORIGINS)))] * 2
