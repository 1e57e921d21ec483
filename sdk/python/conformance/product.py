"""What the products of the conformance suite have in common: their options, their routes and their control."""

import base64
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from agent_feedback import AgentFeedback, CustomerReferences, InvalidOption

CALLBACKS = ("customerRef", "sessionRef", "runtimeHint", "operation", "shouldInstrument")
MILLISECONDS = (
    "flushInterval",
    "timeout",
    "shutdownTimeout",
    "consentCacheTtl",
    "contextTimeout",
    "relayTimeout",
)
USER_AGENT = "user-agent"

CONTROL_PREFIX = "/_conformance/"

ReadHeader = Callable[[Any, str], str | None]
"""Takes what a framework hands to callbacks, and the name of a header."""


class Reply(NamedTuple):
    """What a route answers."""

    status: int
    headers: list[tuple[str, str]]
    chunks: list[bytes]
    is_stream: bool = False
    raises: bool = False


class RouteFailure(Exception):
    """A route fails on purpose."""


def make_feedback(read_header: ReadHeader) -> AgentFeedback:
    """Return the SDK with the options of `$CONFORMANCE_OPTIONS`; end the process if one is malformed."""
    given: dict[str, Any] = json.loads(os.environ.get("CONFORMANCE_OPTIONS", "{}"))
    options = {_snake_case(name): _option(name, value, read_header) for name, value in given.items()}
    try:
        return AgentFeedback(options.pop("api_key", None), **options)
    except InvalidOption as error:
        _fail(str(error))


def _fail(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(2)


def _snake_case(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _option(name: str, value: Any, read_header: ReadHeader) -> Any:
    if name in MILLISECONDS and isinstance(value, (int, float)) and not isinstance(value, bool):
        return value / 1000
    if name not in CALLBACKS or not isinstance(value, str) or (name == "runtimeHint" and value == USER_AGENT):
        return value
    if name == "shouldInstrument":
        return lambda request: read_header(request, value) == "1"
    return lambda request: read_header(request, value)


class Routes:
    """The routes of `$CONFORMANCE_ROUTES`, by method and path."""

    def __init__(self, feedback: AgentFeedback, read_header: ReadHeader) -> None:
        self._feedback, self._read_header = feedback, read_header
        with open(os.environ["CONFORMANCE_ROUTES"], encoding="utf-8") as file:
            self._routes = {
                (route["method"], route["path"]): route for route in json.load(file, object_hook=_without_nulls)
            }

    def find(self, method: str, path: str) -> Mapping[str, Any] | None:
        """Return the route of a request, whose path is decoded or as it was sent."""
        return self._routes.get((method, path))

    def answer(self, route: Mapping[str, Any], request: Any) -> Reply:
        """Return what a route answers to a request, which is what the framework hands to callbacks."""
        time.sleep(route.get("delayMs", 0) / 1000)
        chunks = [chunk.encode() for chunk in route["chunks"]] if "chunks" in route else [_body(route)]
        if "context" in route:
            chunks = [self._with_context(chunks[0], route["context"], request)]
        if "ask" in route:
            self._ask(route["ask"], request)
        headers = [(name, value) for name, value in route.get("headers", [])]
        length = route.get("declaredLength")
        if length is None and "chunks" not in route:
            length = len(chunks[0])
        if route.get("raises") and "chunks" not in route:
            chunks = [chunks[0][: len(chunks[0]) // 2]]
        if length is not None and route["status"] not in (204, 304):
            headers.append(("Content-Length", str(length)))
        return Reply(route["status"], headers, chunks, "chunks" in route, bool(route.get("raises")))

    def _ask(self, ask: Mapping[str, Any], request: Any) -> None:
        self._feedback.customer_context.ask(
            request,
            purpose=ask["purpose"],
            remember=ask.get("remember", False),
            field_keys=ask.get("fieldKeys"),
            customer=self._customer(ask, request),
        )

    def _with_context(self, body: bytes, retrieval: Mapping[str, Any], request: Any) -> bytes:
        client = self._feedback.customer_context
        context = client.context(
            purpose=retrieval["purpose"],
            customer=self._customer(retrieval, request),
            interaction_id=client.interaction(request),
        )
        items = [{"key": item.key, "value": item.value} for item in context.items]
        return json.dumps({**json.loads(body or b"{}"), "known": items}).encode()

    def _customer(self, names: Mapping[str, Any], request: Any) -> CustomerReferences:
        header = names.get("userRef")
        return CustomerReferences(self._read_header(request, header) if header else None)


def _without_nulls(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _body(route: Mapping[str, Any]) -> bytes:
    if "bodyBase64" in route:
        return base64.b64decode(route["bodyBase64"])
    return str(route.get("body", "")).encode()


def control(feedback: AgentFeedback, method: str, name: str, body: bytes) -> tuple[int, dict[str, Any]]:
    """Answer a request of the suite itself; it may take long."""
    if (method, name) == ("POST", "put"):
        command = json.loads(body)
        put(feedback, command["count"], command.get("perSecond"))
        return 200, {"put": command["count"]}
    if (method, name) == ("POST", "flush"):
        feedback.flush()
        return 200, {"flushed": True}
    if (method, name) == ("GET", "counters"):
        return 200, counters(feedback)
    return 404, {"error": "There is nothing at this address."}


def put(feedback: AgentFeedback, count: int, per_second: float | None) -> None:
    """Put events through the manual API, evenly over time, or as fast as possible without a rate."""
    started_at = time.monotonic()
    for number in range(count):
        delay_s = started_at + number / per_second - time.monotonic() if per_second else 0
        # Shorter ones would take longer than they say.
        if delay_s > 0.001:
            time.sleep(delay_s)
        feedback.start("/put").finish(status_code=200, duration_ms=1)


def counters(feedback: AgentFeedback) -> dict[str, Any]:
    """Return the queue's counters as the suite reads them."""
    counts = feedback.telemetry.counters
    prefix = "dropped_"
    dropped = {name.removeprefix(prefix): count for name, count in counts.items() if name.startswith(prefix)}
    return {"queued": counts["queued"], "sent": counts["sent"], "dropped": dropped}


def shut_down(feedback: AgentFeedback) -> None:
    """Shut the SDK down and print the counters as the last line."""
    feedback.shutdown()
    print(json.dumps(counters(feedback)), flush=True)


def fail_after(chunks: list[bytes]) -> Iterator[bytes]:
    """Yield chunks and fail."""
    yield from chunks
    raise RouteFailure
