"""What the Python SDK adds to a response of 2 KiB, in one thread; its telemetry goes to the service under test."""

import json
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.util import setup_testing_defaults

from agent_feedback import AgentFeedback

from tests.journeys.stack import Stack

TARGET_US = 70.0
RESPONSES = 3_000
TURNS = 10

_BODY = json.dumps({"orders": [{"id": number, "state": "delivered"} for number in range(60)], "next": None}).encode()

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def added_us(stack: Stack) -> float:
    """Return the processor microseconds that the middleware adds to a response."""
    assert 1_900 < len(_BODY) < 2_200
    feedback = AgentFeedback(stack.company.product_key, endpoint=stack.url)
    wrapped: Application = feedback.wsgi(_application)
    plain_us: list[float] = []
    wrapped_us: list[float] = []
    for _ in range(TURNS):
        plain_us.append(_response_us(_application))
        wrapped_us.append(_response_us(wrapped))
    feedback.shutdown()
    return statistics.median(wrapped_us) - statistics.median(plain_us)


def _application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(_BODY)))])
    return [_BODY]


def _response_us(application: Application) -> float:
    environ: dict[str, Any] = {"PATH_INFO": "/orders/42", "REQUEST_METHOD": "GET"}
    setup_testing_defaults(environ)
    # The time of this thread alone: the one that sends telemetry waits for a network.
    started_at = time.thread_time()
    for _ in range(RESPONSES // TURNS):
        body = application(dict(environ), lambda status, headers, exc_info=None: None)
        for _ in body:
            pass
        if hasattr(body, "close"):
            body.close()
    return (time.thread_time() - started_at) / (RESPONSES // TURNS) * 1e6
