"""What the Python SDK costs a product: `python -m bench.sdk`.

Responses run in one thread, and their telemetry goes to an address where nobody listens. `bench` measures the first
subject beside its others, with a service that accepts the telemetry.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple
from wsgiref.util import setup_testing_defaults

from agent_feedback import AgentFeedback

from bench.measure import own_cpu_s
from tests.journeys.stack import Stack
from tests.sdk.endpoint import KEY, Endpoint, serving

TARGET_US = 70.0
IMPORT_TARGET_MS = 80.0
TURNS = 10
START_RUNS = 10

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
AsgiApp = Callable[..., Awaitable[Any]]

IMPORTS = (
    "",
    "import agent_feedback",
    "from agent_feedback import AgentFeedback; AgentFeedback().start('/').envelope()",
)
"""An empty program, the import alone, and a client that has made an envelope."""
_MEMORY = "; import psutil; print(psutil.Process().memory_info().rss)"


class Subject(NamedTuple):
    """A response of a product."""

    name: str
    content_type: str
    body: bytes
    responses: int = 3_000


def _orders(count: int) -> bytes:
    return json.dumps({"orders": [{"id": n, "state": "delivered"} for n in range(count)], "next": None}).encode()


SUBJECTS = (
    Subject("JSON, 2 KiB", "application/json", _orders(60)),
    Subject("JSON, 100 KiB", "application/json", _orders(3_000), 500),
    Subject(
        "HTML, 10 KiB",
        "text/html; charset=utf-8",
        b"<!doctype html><html><head><title>Orders</title></head><body><ul>"
        + b'<li class="order"><a href="/orders/1">One</a></li>' * 200
        + b"</ul></body></html>",
        1_000,
    ),
)


def main() -> None:
    """Print what is added to each response, and what a start takes."""
    with serving(Endpoint()) as service:
        feedback = AgentFeedback(KEY, endpoint=service.url)
        for subject in SUBJECTS:
            for name, measure in (("WSGI", _added_wsgi_us), ("ASGI", _added_asgi_us)):
                print(
                    f"added to a response, {subject.name}, {name:<28}{measure(feedback, subject):>9.1f} us", flush=True
                )
        feedback.shutdown()
    (bare_ms, bare_mb), *others = [_start(program) for program in IMPORTS]
    for name, (cpu_ms, memory_mb) in zip(("the import", "the import and a first envelope"), others, strict=True):
        print(f"{name:<49}{cpu_ms - bare_ms:>9.1f} ms{memory_mb - bare_mb:>7.1f} MB")
    print(f"targets: {TARGET_US:.0f} us for JSON of 2 KiB, {IMPORT_TARGET_MS:.0f} ms for the import")


def added_us(stack: Stack) -> float:
    """Return the processor microseconds that the middleware adds to a response of 2 KiB."""
    feedback = AgentFeedback(stack.company.product_key, endpoint=stack.url)
    added = _added_wsgi_us(feedback, SUBJECTS[0])
    feedback.shutdown()
    return added


def _added_wsgi_us(feedback: AgentFeedback, subject: Subject) -> float:
    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", subject.content_type), ("Content-Length", str(len(subject.body)))])
        return [subject.body]

    wrapped = feedback.wsgi(app)
    turn = subject.responses // TURNS
    return _difference_us(lambda: _wsgi_us(app, turn), lambda: _wsgi_us(wrapped, turn))


def _added_asgi_us(feedback: AgentFeedback, subject: Subject) -> float:
    headers = [
        (b"content-type", subject.content_type.encode()),
        (b"content-length", str(len(subject.body)).encode()),
    ]

    async def app(scope: dict[str, Any], receive: Any, send: Callable[..., Awaitable[None]]) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": subject.body})

    wrapped = feedback.asgi(app)
    turn = subject.responses // TURNS
    return _difference_us(lambda: asyncio.run(_asgi_us(app, turn)), lambda: asyncio.run(_asgi_us(wrapped, turn)))


def _difference_us(plain: Callable[[], float], wrapped: Callable[[], float]) -> float:
    pairs = [(plain(), wrapped()) for _ in range(TURNS)]
    return statistics.median(after for _, after in pairs) - statistics.median(before for before, _ in pairs)


def _wsgi_us(app: WsgiApp, responses: int) -> float:
    environ: dict[str, Any] = {"PATH_INFO": "/orders/42", "REQUEST_METHOD": "GET"}
    setup_testing_defaults(environ)
    # The time of this thread alone: the one that sends telemetry waits for a network.
    started_at = time.thread_time()
    for _ in range(responses):
        body = app(dict(environ), lambda status, headers, exc_info=None: None)
        for _ in body:
            pass
        if hasattr(body, "close"):
            body.close()
    return (time.thread_time() - started_at) / responses * 1e6


async def _asgi_us(app: AsgiApp, responses: int) -> float:
    async def send(message: dict[str, Any]) -> None:
        """Take a message."""

    headers = [(b"host", b"shop.example.com"), (b"user-agent", b"ClaudeBot/1.0"), (b"accept", b"*/*")]
    scope = {"type": "http", "method": "GET", "path": "/orders/42", "raw_path": b"/orders/42", "headers": headers}
    started_at = time.thread_time()
    for _ in range(responses):
        await app(dict(scope), None, send)
    return (time.thread_time() - started_at) / responses * 1e6


def _start(program: str) -> tuple[float, float]:
    """Return the processor time in ms of a program, and its memory in MB, which a second run tells."""
    environ = {"AGENT_FEEDBACK_KEY": KEY, "AGENT_FEEDBACK_URL": "https://feedback.example.com"}
    started_at = own_cpu_s()  # in hundredths of a second, so the runs are added up
    for _ in range(START_RUNS):
        _run(program, environ)
    return (own_cpu_s() - started_at) / START_RUNS * 1e3, int(_run((program or "pass") + _MEMORY, environ)) / 1e6


def _run(program: str, environ: dict[str, str]) -> str:
    search_path = {"PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, env={**search_path, **environ}, check=True, capture_output=True, text=True, timeout=60
    ).stdout


if __name__ == "__main__":
    main()
