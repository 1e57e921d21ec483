"""Responses held back until their bodies are known."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from agent_feedback.asking import Place
from agent_feedback.eligibility import by_name, is_eligible, surface_of

Headers = list[tuple[str, str]]


class Held:
    """Holds an eligible response's start back until its body is known; lets every other one start at once."""

    def __init__(self, start_response: Callable[..., Any], options: Any, place: Place | None = None) -> None:
        self._start_response, self._options, self.place = start_response, options, place
        self.lets_pass = self.is_eligible = False
        self.status_code = 0
        self.surface = ""
        self.headers: Headers = []
        self.length: int | None = None

    def __call__(self, status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], Any]:
        # A generator starts its response with its first chunk: too late to be held.
        self.is_eligible = exc_info is None and not self.lets_pass and self._judge(status, headers)
        if self.is_eligible:
            self._status, self.headers = status, headers
            return self._write
        self._writer = self._start_response(status, headers, *([exc_info] if exc_info else []))
        return self._writer  # type: ignore[no-any-return]

    def is_short(self, chunks: Any) -> bool:
        """Tell whether a body is all there already, or says that it ends within the limit."""
        if self.length is None:
            return isinstance(chunks, (list, tuple))
        limit: int = self._options.max_body_bytes
        return self.length <= limit

    def settle(self, headers: Headers | None = None) -> None:
        """Start the response if it is held back; from now on nothing is."""
        self.lets_pass = True
        if self.is_eligible:
            self.is_eligible = False
            self._writer = self._start_response(self._status, self.headers if headers is None else headers)

    def _judge(self, status: str, headers: Headers) -> bool:
        try:
            named = by_name(headers)
            self.surface = surface_of(named) or ""
            if not self._is_wanted():
                return False
            self.status_code = int(status[:3])
            length = named.get("content-length")
            self.length = None if length is None else int(length)
            return is_eligible(self.status_code, named, self._options)
        except Exception:  # what is no response is for the server to refuse
            return False

    def _is_wanted(self) -> bool:
        is_asked = self.place is not None and self.place.ask is not None
        return bool(self.surface) and (is_asked or (self.surface == "http_json" and self._options.mode != "off"))

    def _write(self, data: bytes) -> None:
        """Serve an application that writes its body instead of returning it: nothing can be added to that."""
        self.settle()
        self._writer(data)


class ReadAhead:
    """A body that is read up to the limit; iterating gives all of it, and closing closes the product's own."""

    def __init__(self, chunks: Any, limit: int) -> None:
        self._source, self.is_used_up = chunks, not isinstance(chunks, (list, tuple))
        self._rest: Iterator[bytes] = iter(chunks)
        self._pieces: list[bytes] = []
        size = 0
        for piece in self._rest:
            self._pieces.append(piece)
            size += len(piece)
            if size > limit:
                break
        self._is_whole = size <= limit

    def body(self) -> bytes | None:
        """Return the whole body, or None if it is longer than the limit."""
        return b"".join(self._pieces) if self._is_whole else None

    def replace(self, body: bytes) -> None:
        """Give this out instead."""
        self._pieces, self.is_used_up = [body], True

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces) if self._is_whole else chain(self._pieces, self._rest)

    def close(self) -> None:
        """Close the product's body."""
        close(self._source)


def close(chunks: Any) -> None:
    """Close a body, if it can be closed."""
    if hasattr(chunks, "close"):
        chunks.close()
