"""One HTTP exchange of the Model Context Protocol, served by its SDK inside a request.

The SDK serves ASGI. There are no sessions and no streams here: every POST is answered with one JSON message, so an
event loop that lasts as long as the request is all that it needs. The tools run in that loop, in the request's own
thread and context.
"""

import asyncio
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from app.mcp.messages import find_fault
from app.mcp.server import Call, make_server

Message = MutableMapping[str, Any]
Headers = Iterable[tuple[str, str]]

JSON = ("Content-Type", "application/json")


@dataclass(slots=True)
class Exchange:
    """The two ends of ASGI: the request, whose body has been read, and the response."""

    request_headers: Headers
    request_body: bytes
    status: int = 500
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    is_received: bool = False

    @property
    def scope(self) -> Message:
        """The request as ASGI describes it, without its credential."""
        return {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "scheme": "https",
            "path": "/mcp",
            "query_string": b"",
            "headers": [
                (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
                for name, value in self.request_headers
                if name.lower() != "authorization"
            ],
        }

    async def receive(self) -> Message:
        """Hand the body over, and then say that nothing follows: a reader that waits for that would never end."""
        if self.is_received:
            return {"type": "http.disconnect"}
        self.is_received = True
        return {"type": "http.request", "body": self.request_body, "more_body": False}

    async def send(self, message: Message) -> None:
        """Take the response."""
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            self.headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]]
        else:
            self.body += message.get("body", b"")


def run_exchange(headers: Headers, body: bytes, version: str | None, call: Call) -> Exchange:
    """Return the finished exchange of a request; `version` is that of its header.

    An exception of a tool that is not the caller's fault is raised.
    """
    fault = find_fault(body, version)
    if fault:
        return Exchange(headers, body, fault.status, [JSON], fault.encode())
    exchange, failures = Exchange(headers, body), list[Exception]()
    asyncio.run(_serve(make_server(call, failures), exchange))
    if failures:
        raise failures[0]
    return exchange


async def _serve(server: Server[Any], exchange: Exchange) -> None:
    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
    async with manager.run():
        await manager.handle_request(exchange.scope, exchange.receive, exchange.send)
