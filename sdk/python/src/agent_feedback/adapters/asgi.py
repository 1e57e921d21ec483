"""The ASGI adapter: adds the envelope and the context action to eligible responses, and passes all others unchanged.

Only HTTP is touched; WebSockets and the lifespan are the product's own, but for the telemetry that is sent before the
lifespan ends. Whatever fails in here, the product's response leaves as the product made it.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property
from typing import Any
from urllib.parse import quote

from agent_feedback.adapters.asgi_input import read_input
from agent_feedback.adapters.asgi_response import BufferedResponse, encode_headers
from agent_feedback.adapters.asgi_threads import NoThread, Threads
from agent_feedback.context.interaction import INTERACTION_KEY
from agent_feedback.instrumentation import Instrumentation
from agent_feedback.relay import Relay, RelayError, RelayRequest, mount_path, unavailable

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_LAST_MESSAGES = ("lifespan.shutdown.complete", "lifespan.shutdown.failed")


class AsgiRequest:
    """A request, read from an ASGI scope when it arrives: frameworks change the paths of the scope later."""

    def __init__(self, scope: Scope) -> None:
        self.source = scope
        self.method: str = scope.get("method", "")
        root = (scope.get("root_path") or "").rstrip("/")
        path: str = scope.get("path", "")
        # Servers differ in whether the path includes that of the mount; frameworks look at it in the same way.
        is_whole = path == root or path.startswith(root + "/")
        self.path = path if is_whole else root + path
        self.mounted_path = path[len(root) :] if is_whole else path
        """The path without the mount."""
        self.mount = mount_path(root) if root else ""

    @cached_property
    def target(self) -> str:
        """The path and the query of the request line."""
        raw = (self.source.get("raw_path") or b"").decode("latin-1")
        query = (self.source.get("query_string") or b"").decode("latin-1")
        return (raw if raw.startswith("/") else quote(self.path)) + (f"?{query}" if query else "")

    @property
    def client_address(self) -> str | None:
        """The address of the peer."""
        client = self.source.get("client")
        return client[0] if client else None

    def header(self, name: str) -> str | None:
        """Return the value of a header by its lower-cased name, or None."""
        key = name.encode()
        values = [value for header, value in self.source.get("headers", ()) if header == key]
        return b", ".join(values).decode("latin-1") if values else None


class AsgiAdapter:
    """An ASGI application around the product's."""

    def __init__(self, app: Callable[..., Awaitable[Any]], instrumentation: Instrumentation) -> None:
        self._app, self._instrumentation = app, instrumentation
        # Agents that wait for the service take no threads from the product's own responses.
        self._threads, self._relay_threads = Threads("agent-feedback-context"), Threads("agent-feedback-relay")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, self._flush_before_end(send) if scope["type"] == "lifespan" else send)
            return
        request = AsgiRequest(scope)
        relay = self._instrumentation.relay
        if relay is not None and relay.serves(request.mounted_path):
            await self._relay(relay, request, receive, send)
        elif self._instrumentation.covers(request):
            await self._run(request, receive, send)
        else:
            await self._app(scope, receive, send)

    def _flush_before_end(self, send: Send) -> Send:
        """Return a `send` that sends the telemetry first: uvicorn ends the process without Python's exit hooks."""

        async def send_at_end(message: dict[str, Any]) -> None:
            if message["type"] in _LAST_MESSAGES:
                with suppress(Exception):
                    await self._threads.run(None, self._instrumentation.flush)
            await send(message)

        return send_at_end

    async def _run(self, request: AsgiRequest, receive: Receive, send: Send) -> None:
        """Run the product and buffer its response as far as it may be modified."""
        slot = self._instrumentation.open_slot(request)
        response = BufferedResponse(send, self._instrumentation, request, slot, self._threads)
        response.is_private = INTERACTION_KEY in request.source
        try:
            await self._app(request.source, receive, response)
        except Exception:
            # The server would have had these messages before the failure. Nothing is awaited after a cancellation.
            with suppress(Exception):
                await response.release()
            raise
        await response.release()

    async def _relay(self, relay: Relay, request: AsgiRequest, receive: Receive, send: Send) -> None:
        """Answer an agent's request, which the product's own code never sees."""
        try:
            text = await read_input(request, receive, relay.timeout_s)
        except RelayError as error:
            read = _raise(error)
        else:
            if text is None:  # nobody waits for an answer
                return
            read = _return(text)
        authorization = request.header("authorization") or ""
        relay_request = RelayRequest(request.method, request.mounted_path, authorization, request.mount)
        try:
            response = await self._relay_threads.run(None, relay.answer, relay_request, read)
        except NoThread:
            response = relay.answer(relay_request, _raise(unavailable()))
        headers = encode_headers(response.headers)
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        body = b"" if request.method == "HEAD" else response.body
        await send({"type": "http.response.body", "body": body})


def _return(text: bytes) -> Callable[[], bytes]:
    return lambda: text


def _raise(error: RelayError) -> Callable[[], bytes]:
    def read() -> bytes:
        raise error

    return read
