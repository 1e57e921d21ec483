"""WSGI responses whose start and body are buffered until it is clear what they become."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from agent_feedback.context.interaction import ContextSlot
from agent_feedback.instrumentation import Headers, Instrumentation, ResponseHead
from agent_feedback.request import Request


class BufferedResponse:
    """A `start_response` that buffers the start of an eligible response and passes every other one on at once."""

    def __init__(
        self,
        start_response: Callable[..., Any],
        instrumentation: Instrumentation,
        request: Request,
        slot: ContextSlot | None,
    ) -> None:
        self._start_response, self._instrumentation = start_response, instrumentation
        self._request, self._slot = request, slot
        self._has_started = False
        self.head: ResponseHead | None = None
        """The buffered start, until it is passed on."""

    def __call__(self, status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], Any]:
        # A generator starts its response with its first chunk: too late to be buffered.
        self.head = None if exc_info or self._has_started else self._read_head(status, headers)
        if self.head is not None:
            self._status, self._headers = status, headers
            return self._write
        self._server_write = self._start_response(status, headers, *([exc_info] if exc_info else []))
        return self._server_write  # type: ignore[no-any-return]  # WSGI has it untyped

    def start(self, headers: Headers | None = None) -> None:
        """Start the response if it is buffered, with other headers if given; later starts pass at once."""
        self._has_started = True
        if self.head is not None:
            self.head = None
            self._server_write = self._start_response(self._status, self._headers if headers is None else headers)

    def finish(self, body: "BufferedBody", duration_ms: float) -> None:
        """Start the response, modified if it can be."""
        head, text = self.head, body.read()
        if head is None or text is None:
            self.start()
            return
        modified = self._instrumentation.modify(self._request, self._slot, head, text, duration_ms)
        self.start(head.headers if modified is None else modified.headers)
        if modified is not None and modified.body is not None:
            body.replace(modified.body)

    def _read_head(self, status: str, headers: Headers) -> ResponseHead | None:
        status_code = int(status[:3]) if status[:3].isdecimal() else 0
        return self._instrumentation.read_head(self._request, self._slot, status_code, headers)

    def _write(self, data: bytes) -> None:
        """Pass on what an application writes instead of returning it; such a response is not modified."""
        self.start()
        self._server_write(data)


class BufferedBody:
    """A body read up to the limit; iterating yields all of it, and closing closes the product's own."""

    def __init__(self, chunks: Any, limit: int) -> None:
        self._source = chunks
        self.replaces_source = not isinstance(chunks, (list, tuple))
        """Whether the server must iterate over this object, since the source is consumed or replaced."""
        self._remaining: Iterator[bytes] = iter(chunks)
        self._buffer: list[bytes] = []
        size = 0
        for chunk in self._remaining:
            self._buffer.append(chunk)
            size += len(chunk)
            if size > limit:
                break
        self._is_complete = size <= limit

    def read(self) -> bytes | None:
        """Return the whole body, or None if it is longer than the limit."""
        return b"".join(self._buffer) if self._is_complete else None

    def replace(self, body: bytes) -> None:
        """Yield this body instead."""
        self._buffer, self.replaces_source = [body], True

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._buffer) if self._is_complete else chain(self._buffer, self._remaining)

    def close(self) -> None:
        """Close the product's body."""
        close_body(self._source)


def close_body(chunks: Any) -> None:
    """Close a body if it has a `close`."""
    if hasattr(chunks, "close"):
        chunks.close()
