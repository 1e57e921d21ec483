"""Before the lifespan of an ASGI product ends, its telemetry is sent; uvicorn leaves no other chance."""

import asyncio
import time
from typing import Any

import pytest
from agent_feedback import AgentFeedback

from tests.sdk.asgi_site import Message
from tests.sdk.endpoint import KEY, Endpoint, Reply

STARTED = {"type": "lifespan.startup.complete"}
ENDS = [{"type": "lifespan.shutdown.complete"}, {"type": "lifespan.shutdown.failed", "message": "the product's own"}]


def run_lifespan(feedback: AgentFeedback, end: Message, endpoint: Endpoint) -> tuple[list[Message], list[int]]:
    """Run a lifespan with one event in it; return its messages, and how many requests had been sent before each."""
    messages: list[Message] = []
    counts: list[int] = []

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await send(STARTED)
        feedback.start("/orders").finish(status_code=200)
        await send(end)

    async def send(message: Message) -> None:
        messages.append(message)
        counts.append(len(endpoint.requests))

    asyncio.run(feedback.asgi(app)({"type": "lifespan"}, None, send))
    return messages, counts


@pytest.mark.parametrize("end", ENDS)
def test_the_telemetry_is_sent_before_the_end(endpoint: Endpoint, end: Message) -> None:
    feedback = AgentFeedback(KEY, endpoint=endpoint.url, flush_interval=60.0)
    messages, counts = run_lifespan(feedback, end, endpoint)
    assert [messages[0] is STARTED, messages[1] is end, len(messages)] == [True, True, 2]
    assert (counts, feedback.telemetry.counters["sent"]) == ([0, 1], 1)


def test_a_service_that_is_down_delays_the_end_no_longer_than_it_may(endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(503)
    feedback = AgentFeedback(KEY, endpoint=endpoint.url, max_attempts=1000, shutdown_timeout=0.05)
    started_at = time.monotonic()
    messages, _ = run_lifespan(feedback, ENDS[0], endpoint)
    assert messages == [STARTED, ENDS[0]]
    assert time.monotonic() - started_at < 20
    assert feedback.telemetry.counters["sent"] == 0


def test_a_flush_that_fails_does_not_keep_the_lifespan_from_ending(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> bool:
        raise RuntimeError

    feedback = AgentFeedback(KEY, endpoint=endpoint.url)
    monkeypatch.setattr(feedback.telemetry, "flush", fail)
    assert run_lifespan(feedback, ENDS[0], endpoint)[0] == [STARTED, ENDS[0]]
