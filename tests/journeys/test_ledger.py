"""What the ledger counts adds up to exactly what was put, whatever happens on the way."""

import os
import random
import secrets
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psutil
import pytest
from agent_feedback import AgentFeedback
from agent_feedback.http import client as http
from agent_feedback.telemetry import queue as telemetry
from agent_feedback.telemetry.queue import TelemetryQueue

from tests.factories import event
from tests.journeys.gateway import Fault, Gateway, running_gateway
from tests.journeys.stack import Stack, wait_until

MAX_QUEUE_SIZE = 200
FLUSH_S = 30


@dataclass
class Product:
    """Puts events into the SDK, and knows what it has put."""

    queue: TelemetryQueue
    gateway: Gateway
    version: str
    random: random.Random
    ids: list[str] = field(default_factory=list)

    def put(self, count: int, **details: Any) -> None:
        for _ in range(count):
            new_event = event(**details)
            self.ids.append(new_event["interactionId"])
            self.queue.put(new_event)

    def put_some(self) -> None:
        """Put a mixture of good, refused, repeated and unreadable events, fewer than the queue takes."""
        for _ in range(self.random.randint(1, 60)):
            kind = self.random.random()
            if kind < 0.04:
                self.put(1, surface="smoke signals")
            elif kind < 0.08:
                self.queue.put({"interactionId": object()})
            elif kind < 0.15 and self.ids:
                self.queue.put(event(self.random.choice(self.ids)))
            else:
                self.put(1)

    def settle(self) -> None:
        """Wait until all events were dealt with and all losses are told."""
        wait_until(lambda: self.queue.flush(FLUSH_S), FLUSH_S)
        while self.queue.unreported_losses():
            self.put(1)
            wait_until(lambda: self.queue.flush(FLUSH_S), FLUSH_S)


@pytest.fixture
def product(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Product]:
    version = f"9.9.{secrets.randbelow(10**6)}"
    monkeypatch.setattr(http, "USER_AGENT", f"agent-feedback-python/{version}")
    monkeypatch.setattr(telemetry, "FIRST_BACKOFF_S", 0.01)
    monkeypatch.setattr(telemetry, "MAX_BACKOFF_S", 0.02)
    monkeypatch.setattr(telemetry, "UNAUTHORIZED_PAUSE_S", 0.01)
    with running_gateway(stack.url) as gateway:
        feedback = AgentFeedback(
            stack.company.product_key,
            endpoint=gateway.url,
            max_queue_size=MAX_QUEUE_SIZE,
            flush_interval=0.01,
            timeout=2.0,
        )
        yield Product(feedback.telemetry, gateway, version, random.Random(version))
        feedback.shutdown(0.1)


def read_ledger(stack: Stack, product: Product) -> dict[str, Any]:
    """Return the sums of what the ledger has of this product, once everything has arrived."""
    for thread in product.gateway.late_requests:
        thread.join()
    wait_until(lambda: stack.value("SELECT count(*) FROM telemetry_inbox") == 0, 60)
    totals: dict[str, Any] = {"accepted": 0, "duplicate": 0, "expired": 0, "refused": {}, "lost": {}}
    for row in stack.flask("ledger", "show", "--environment", str(stack.company.environment_id)):
        if row["version"] == product.version:
            for name in ("accepted", "duplicate", "expired"):
                totals[name] += row[name]
            for name in ("refused", "lost"):
                totals[name] = {key: totals[name].get(key, 0) + value for key, value in row[name].items()}
    return totals


def assert_sum(stack: Stack, product: Product) -> dict[str, Any]:
    """Assert that nothing is missing and nothing is counted twice; return the ledger."""
    ledger = read_ledger(stack, product)
    columns = [ledger[name] for name in ("accepted", "duplicate", "expired")]
    total = sum(columns) + sum(ledger["refused"].values()) + sum(ledger["lost"].values())
    assert total == product.queue.counters["queued"], (ledger, product.queue.counters, product.version)
    stored = stack.value("SELECT count(*) FROM interactions WHERE id = ANY(%s::uuid[])", product.ids)
    assert stored == ledger["accepted"], (ledger, product.queue.counters)
    return ledger


def web_workers(stack: Stack) -> list[psutil.Process]:
    processes = psutil.Process(stack.supervisor.processes["web"].pid).children(recursive=True)
    return [process for process in processes if not process.children()]


def test_whatever_happens_to_requests_the_sum_is_what_was_put(stack: Stack, product: Product) -> None:
    faults = list(Fault)
    for _ in range(40):
        # Runs of faults, so that some batches are given up.
        product.gateway.faults.extend(product.random.choices(faults, k=product.random.choice((0, 1, 1, 2, 3, 4))))
        product.put_some()
        if product.random.random() < 0.7:
            wait_until(lambda: product.queue.flush(FLUSH_S), FLUSH_S)
    product.gateway.faults.clear()
    product.settle()
    ledger = assert_sum(stack, product)
    assert ledger["accepted"]
    assert ledger["duplicate"]
    assert ledger["refused"]["invalid_value"]
    assert {"unreadable", "refused"} <= ledger["lost"].keys()


def test_a_full_queue_a_service_that_is_away_and_killed_processes_lose_what_is_counted(
    stack: Stack, product: Product
) -> None:
    product.gateway.is_open.clear()
    product.put(MAX_QUEUE_SIZE + 170)
    product.gateway.is_open.set()
    product.settle()
    workers = web_workers(stack)
    assert len(workers) == int(stack.environ["WEB_CONCURRENCY"])
    for worker in workers:
        product.put(60)
        os.kill(worker.pid, signal.SIGKILL)
        product.put(60)
        wait_until(lambda: product.queue.flush(FLUSH_S), FLUSH_S)
    with stack.stop_process("web"):
        product.put(MAX_QUEUE_SIZE - 20)
        product.queue.flush(FLUSH_S)
    stack.wait_until_web_answers()
    product.settle()
    ledger = assert_sum(stack, product)
    assert ledger["lost"].keys() == {"queue_full", "undelivered"}
    assert ledger["lost"]["queue_full"] >= 120
    assert ledger["duplicate"] == 0
