"""WSGI responses whose start and body are buffered until it is clear what they become."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from agent_feedback.context.interaction import ContextSlot
from agent_feedback.eligibility import index_headers, is_eligible, surface_of
from agent_feedback.options import Options

Headers = list[tuple[str, str]]


class BufferedResponse:
    """A `start_response` that buffers the start of an eligible response and passes every other one on at once."""

    def __init__(self, start_response: Callable[..., Any], options: Options, slot: ContextSlot | None = None) -> None:
        self._start_response, self._options, self.slot = start_response, options, slot
        self._has_started = self.is_eligible = False
        self.status_code = 0
        self.surface = ""
        self.headers: Headers = []
        self.length: int | None = None

    def __call__(self, status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], Any]:
        # A generator starts its response with its first chunk: too late to be buffered.
        self.is_eligible = exc_info is None and not self._has_started and self._check(status, headers)
        if self.is_eligible:
            self._status, self.headers = status, headers
            return self._write
        self._server_write = self._start_response(status, headers, *([exc_info] if exc_info else []))
        return self._server_write  # type: ignore[no-any-return]  # WSGI has it untyped

    def is_bounded(self, chunks: Any) -> bool:
        """Tell whether a body is complete already, or declares a length within the limit."""
        if self.length is None:
            return isinstance(chunks, (list, tuple))
        limit: int = self._options.max_body_bytes
        return self.length <= limit

    def start(self, headers: Headers | None = None) -> None:
        """Start the response if it is buffered, with other headers if given; later starts pass at once."""
        self._has_started = True
        if self.is_eligible:
            self.is_eligible = False
            self._server_write = self._start_response(self._status, self.headers if headers is None else headers)

    def _check(self, status: str, headers: Headers) -> bool:
        try:
            index = index_headers(headers)
            self.surface = surface_of(index) or ""
            if not self._has_purpose():
                return False
            self.status_code = int(status[:3])
            length = index.get("content-length")
            self.length = None if length is None else int(length)
            return is_eligible(self.status_code, index, self._options.cache_mode)
        except Exception:  # a malformed start is for the server to refuse
            return False

    def _has_purpose(self) -> bool:
        """Tell whether there is anything to add to a response of this surface."""
        has_request = self.slot is not None and self.slot.context_request is not None
        return bool(self.surface) and (has_request or (self.surface == "http_json" and self._options.mode != "off"))

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
