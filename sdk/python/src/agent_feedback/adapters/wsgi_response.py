"""WSGI responses whose start and body are buffered until it is clear what they become."""

import time
from collections.abc import Callable, Iterator
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
        self._has_started, self._started_at = False, time.perf_counter()
        self.head: ResponseHead | None = None
        """The buffered start, until it is passed on."""
        self.is_called = False
        """Whether the application has started its response."""

    def __call__(self, status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], Any]:
        self.is_called = True
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

    def finish(self, body: "BufferedBody") -> None:
        """Read the body and start the response, modified if it can be."""
        text = body.read(self._instrumentation.max_body_bytes)
        head = self.head  # None if the application has written meanwhile, or started over
        if head is None or text is None:
            self.start()
            return
        duration_ms = (time.perf_counter() - self._started_at) * 1000
        modified = self._instrumentation.modify(self._request, self._slot, head, text, duration_ms)
        if modified is not None:
            modified.record()
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
    """A body read as far as is needed; iterating yields all of it, and closing closes the product's own.

    What fails while it is read fails again after the chunks before it, as the server would have seen it.
    """

    def __init__(self, chunks: Any) -> None:
        self._source = chunks
        self.replaces_source = not isinstance(chunks, (list, tuple))
        """Whether the server must iterate over this object, since the source is consumed or replaced."""
        self._remaining: Iterator[bytes] = iter(chunks)
        self._buffer: list[bytes] = []
        self._size = 0
        self._is_complete, self._is_readable = False, True
        self._error: Exception | None = None

    def read(self, limit: int) -> bytes | None:
        """Return the whole body, or None if it is longer than the limit or cannot be read."""
        while self._is_readable and self._size <= limit:
            self.read_chunk()
        return b"".join(self._buffer) if self._is_complete and self._size <= limit else None

    def read_chunk(self) -> None:
        """Read one more chunk."""
        try:
            chunk = next(self._remaining)
        except StopIteration:
            self._is_complete, self._is_readable = True, False
        except Exception as error:
            self._error, self._is_readable = error, False
        else:
            self._buffer.append(chunk)
            self._is_readable = isinstance(chunk, bytes)  # anything else is for the server to refuse
            self._size += len(chunk) if self._is_readable else 0

    def replace(self, body: bytes) -> None:
        """Yield this body instead."""
        self._buffer, self.replaces_source = [body], True

    def __iter__(self) -> Iterator[bytes]:
        yield from self._buffer
        if self._error is not None:
            raise self._error
        if not self._is_complete:
            yield from self._remaining

    def close(self) -> None:
        """Close the product's body."""
        close_body(self._source)


def close_body(chunks: Any) -> None:
    """Close a body if it has a `close`."""
    if hasattr(chunks, "close"):
        chunks.close()
