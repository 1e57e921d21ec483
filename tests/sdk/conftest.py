"""What the tests of the Python package share."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from agent_feedback import AgentFeedback
from agent_feedback.telemetry import queue as telemetry
from agent_feedback.telemetry.queue import TelemetryQueue

from tests.sdk import evidence_service
from tests.sdk.endpoint import KEY, Endpoint, serving
from tests.sdk.evidence_service import Service

MakeQueue = Callable[..., TelemetryQueue]


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KEY", "COMPANY_KEY", "URL", "MODE", "ENABLED"):
        monkeypatch.delenv(f"AGENT_FEEDBACK_{name}", raising=False)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A healthy service."""
    with serving(Endpoint()) as service:
        yield service


@pytest.fixture
def make_queue(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeQueue]:
    """Make queues that try again quickly."""
    monkeypatch.setattr(telemetry, "FIRST_BACKOFF_S", 0.01)
    queues: list[TelemetryQueue] = []

    def make(url: str = "", **settings: Any) -> TelemetryQueue:
        queues.append(
            AgentFeedback(KEY, endpoint=url or endpoint.url, **{"flush_interval": 0.02, **settings}).telemetry
        )
        return queues[-1]

    yield make
    endpoint.gate.set()
    for queue in queues:
        queue.shutdown(0.1)


@pytest.fixture
def service() -> Iterator[Service]:
    """A healthy evidence endpoint."""
    with evidence_service.serving() as service:
        yield service
