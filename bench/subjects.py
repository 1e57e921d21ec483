"""What a round measures: requests of every kind, sent by one client and by many, and what they cost all processes."""

import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import NamedTuple
from urllib.parse import urlsplit

from agent_feedback.interaction_id import new_interaction_id

from bench.context import ask_body, query_body
from bench.load import request, send
from bench.measure import cpu_s, remove_bare_reviews, service_cpu_s
from tests.factories import NOTE, event
from tests.journeys.stack import Stack, wait_until

CLIENTS = 16
REVIEW = {"outcome": "success", "note": NOTE}
ANSWERED_KEY = "content.format"


class Cost(NamedTuple):
    """The latency of one client in microseconds, and the processor microseconds of one request of many clients."""

    p50_us: float
    cpu_us: float


class TelemetryCost(NamedTuple):
    """Events a second from the first request until the last event is in its table, and CPU microseconds an event."""

    persisted_s: float
    cpu_us: float


@dataclass(frozen=True)
class Bench:
    """The service under test, the bare endpoints beside it, and the known customers of its company."""

    stack: Stack
    bare_url: str
    bare_pid: int
    users: list[str]
    requests: int
    """How many requests one client sends; many clients send twice as many."""
    events: int = 100_000
    """How many events of telemetry and of evidence are sent, and how many raw rows are written."""

    def bare(self) -> Cost:
        """Measure a Flask endpoint that reads and answers JSON."""
        return self._bare("/")

    def stored(self) -> Cost:
        """Measure a Flask endpoint that also stores a review by the service's statement."""
        cost = self._bare("/reviews")
        remove_bare_reviews(self.stack)
        return cost

    def outcome(self) -> Cost:
        """Measure reviews, each with a capability of its own, until their interactions are confirmed."""
        bodies = [(self.stack.company.capability(), REVIEW) for _ in range(3 * self.requests)]
        return self._service("/api/v2/outcomes", bodies)

    def retrieve(self) -> Cost:
        """Measure retrievals of customers with five signals each."""
        key = self.stack.company.company_key
        return self._service("/api/v2/customer-context", [(key, query_body(user)) for user in self._users()])

    def ask(self) -> Cost:
        """Measure requests for the context of known customers."""
        key = self.stack.company.company_key
        return self._service("/api/v2/enrichment/requests", [(key, ask_body(user)) for user in self._users()])

    def answer(self) -> Cost:
        """Measure answers with one item that is remembered."""
        actions = ask_all(self.stack, self._users())
        return self._service("/api/v2/enrichment/answers", [(handle_of(action), _answer(action)) for action in actions])

    def telemetry(self, batch_size: int) -> TelemetryCost:
        """Measure telemetry until it is persisted."""
        stack, number = self.stack, self.events // batch_size
        path, key = "/api/v2/telemetry/batches", stack.company.product_key
        requests = [request(stack.url, path, key, {"events": _events(batch_size)}) for _ in range(number)]
        before, started_at = service_cpu_s(stack), time.perf_counter()
        send(stack.url, requests, CLIENTS, 202)
        wait_until(lambda: stack.value("SELECT NOT EXISTS (SELECT FROM telemetry_inbox)"), 120)
        seconds = time.perf_counter() - started_at
        # The roll-up that follows belongs to the cost as well.
        time.sleep(0.5)
        return TelemetryCost(self.events / seconds, (service_cpu_s(stack) - before) / self.events * 1e6)

    def _users(self) -> list[str]:
        return [self.users[number % len(self.users)] for number in range(3 * self.requests)]

    def _bare(self, path: str) -> Cost:
        requests = [request(self.bare_url, path, None, REVIEW)] * self.requests
        p50_us = send(self.bare_url, requests, 1, 200).p50_ms * 1e3
        assert self.stack.postgres.process
        processes = (self.bare_pid, self.stack.postgres.process.pid)
        before = cpu_s(*processes)
        send(self.bare_url, requests * 2, CLIENTS, 200)
        return Cost(p50_us, (cpu_s(*processes) - before) / len(requests) / 2 * 1e6)

    def _service(self, path: str, calls: Sequence[tuple[str, object]]) -> Cost:
        stack = self.stack
        requests = [request(stack.url, path, token, body) for token, body in calls]
        p50_us = send(stack.url, requests[: self.requests], 1, 200).p50_ms * 1e3
        self._drain()
        before = service_cpu_s(stack)
        send(stack.url, requests[self.requests :], CLIENTS, 200)
        self._drain()
        return Cost(p50_us, (service_cpu_s(stack) - before) / (len(requests) - self.requests) * 1e6)

    def _drain(self) -> None:
        wait_until(lambda: self.stack.value("SELECT NOT EXISTS (SELECT FROM promotions)"), 60)


def ask_all(stack: Stack, users: Sequence[str]) -> list[dict[str, object]]:
    """Ask for the context of customers, and return the actions."""
    address = urlsplit(stack.url)
    connection = HTTPConnection(str(address.hostname), address.port, timeout=30)
    headers = {"Authorization": f"Bearer {stack.company.company_key}", "Content-Type": "application/json"}
    actions = []
    for user in users:
        connection.request("POST", "/api/v2/enrichment/requests", json.dumps(ask_body(user)), headers)
        response = connection.getresponse()
        actions.append(json.loads(response.read()))
        assert response.status == 200, actions[-1]
    connection.close()
    return actions


def handle_of(action: dict[str, object]) -> str:
    """Return the handle that an action carries."""
    submit = action["submit"]
    assert isinstance(submit, dict)
    return str(submit["authorization"]).removeprefix("Bearer ")


def _answer(action: dict[str, object]) -> dict[str, object]:
    submit = action["submit"]
    assert isinstance(submit, dict)
    entry = next(entry for entry in submit["bodySchema"]["catalog"] if entry["key"] == ANSWERED_KEY)
    item = {
        "key": ANSWERED_KEY,
        "type": entry["type"],
        "value": random.choice(entry["allowedValues"]),
        "provenance": "agent_reports_user_statement",
        "remember": True,
    }
    return {"status": "answered", "items": [item]}


def _events(batch_size: int) -> list[dict[str, object]]:
    """Return a batch: a thousand visits by five hundred customers, some twenty interactions each."""
    return [
        event(
            interaction_id=new_interaction_id(),
            operation=f"/orders/:id/step-{number % 20}",
            statusCode=200,
            durationMs=12.5,
            customerRef=f"account_{visit % 500}",
            sessionRef=f"visit_{visit}",
            sessionSource="customer",
        )
        for number, visit in enumerate(random.choices(range(1000), k=batch_size))
    ]
