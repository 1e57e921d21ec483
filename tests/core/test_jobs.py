"""The doorbell."""

import threading
import time
from typing import Any

import pytest

from app.core.jobs import Doorbell, Job
from tests.journeys.stack import wait_until


class Broker:
    """Stands between the doorbell and its broker: counts the rings, and can be dead."""

    def __init__(self, bell: Doorbell, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rings: list[str] = []
        self.is_dead = False
        monkeypatch.setattr(bell._celery, "send_task", self._send)

    def _send(self, name: str, **_: Any) -> None:
        if self.is_dead:
            raise ConnectionError
        self.rings.append(str(name))


@pytest.fixture
def bell() -> Doorbell:
    return Doorbell("redis://127.0.0.1:1/0")


@pytest.fixture
def broker(bell: Doorbell, monkeypatch: pytest.MonkeyPatch) -> Broker:
    return Broker(bell, monkeypatch)


def test_many_rings_of_one_window_become_one(bell: Doorbell, broker: Broker) -> None:
    threads = [threading.Thread(target=bell.ring, args=(Job.PERSIST_TELEMETRY,)) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: broker.rings, 5)
    time.sleep(0.3)
    assert broker.rings == [Job.PERSIST_TELEMETRY]


def test_a_ring_after_the_window_is_a_ring_of_its_own(bell: Doorbell, broker: Broker) -> None:
    for number in (1, 2):
        bell.ring(Job.PROMOTE_INTERACTIONS)
        wait_until(lambda number=number: len(broker.rings) == number, 5)


def test_a_dead_broker_is_rung_again_until_it_is_back(bell: Doorbell, broker: Broker) -> None:
    broker.is_dead = True
    began = time.monotonic()
    bell.ring(Job.PERSIST_TELEMETRY)
    assert time.monotonic() - began < 0.1
    time.sleep(0.5)
    broker.is_dead = False
    wait_until(lambda: broker.rings == [Job.PERSIST_TELEMETRY], 5)


def test_a_broker_that_cannot_be_reached_is_told_quickly(bell: Doorbell) -> None:
    began = time.monotonic()
    assert not bell.is_answered()
    assert time.monotonic() - began < 3
