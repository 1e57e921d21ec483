"""Small ASGI products, and a client that sees exactly which messages the adapter lets through."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from agent_feedback import AgentFeedback

from tests.sdk.site import BODY, Response

Message = dict[str, Any]
AsgiApp = Callable[..., Awaitable[None]]
RawHeaders = list[tuple[bytes, bytes]]

ASGI_JSON = (b"content-type", b"application/json")


@dataclass
class Exchange:
    """What an application did with one request."""

    messages: list[Message] = field(default_factory=list)
    error: BaseException | None = None

    @property
    def response(self) -> Response:
        """Return the response as a client has it; headers and body are in the messages."""
        response = Response()
        for message in self.messages:
            if message["type"] == "http.response.start":
                response.starts += 1
                response.status = str(message["status"])
                response.headers = [
                    (name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]
                ]
            elif message["type"] == "http.response.body":
                response.body += message.get("body", b"")
        return response


def make_scope(path: str = "/orders/12", headers: dict[str, str] | None = None, **members: Any) -> dict[str, Any]:
    """Return a scope as a server makes it."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in (headers or {}).items()],
        "client": ("192.0.2.7", 40_000),
        "server": ("shop.example.com", 80),
        "extensions": {},
        **members,
    }


def start(headers: RawHeaders | None = None, status: int = 200, **members: Any) -> Message:
    """Return the start of a response, of JSON unless headers say otherwise."""
    raw_headers = [ASGI_JSON] if headers is None else headers
    return {"type": "http.response.start", "status": status, "headers": raw_headers, **members}


def part(body: bytes = BODY, *, more_body: bool = False) -> Message:
    """Return a part of a body."""
    return {"type": "http.response.body", "body": body, "more_body": more_body}


def with_length(length: int, *headers: tuple[bytes, bytes]) -> RawHeaders:
    """Return headers of JSON that declare a length."""
    return [ASGI_JSON, *headers, (b"content-length", str(length).encode())]


def make_asgi_app(*messages: Message, error: BaseException | None = None) -> AsgiApp:
    """Return a product that always sends these messages, and fails then if told to."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        for message in messages or (start(), part()):
            await send(message)
        if error is not None:
            raise error

    return app


def make_asgi_asking(feedback: AgentFeedback, *messages: Message, **arguments: Any) -> AsgiApp:
    """Return a product that asks with each response."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        feedback.customer_context.ask(scope, **{"purpose": "product_personalization", **arguments})
        await make_asgi_app(*messages)(scope, receive, send)

    return app


async def exchange(app: AsgiApp, scope: dict[str, Any], received: Iterable[Message] = ()) -> Exchange:
    """Ask once, as a server does."""
    result, queue = Exchange(), list(received or [{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Message:
        if not queue:  # the client waits
            await asyncio.Event().wait()
        return queue.pop(0)

    async def send(message: Message) -> None:
        result.messages.append(message)

    try:
        await app(scope, receive, send)
    except Exception as error:
        result.error = error
    return result


def fetch_asgi(app: AsgiApp, path: str = "/orders/12", received: Iterable[Message] = (), **members: Any) -> Exchange:
    """Ask once, in an event loop of its own."""
    return asyncio.run(exchange(app, make_scope(path, **members), received))
