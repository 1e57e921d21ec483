"""The WSGI adapter: appends the envelope to JSON objects and lets everything else pass byte for byte.

Whatever goes wrong in here, the product's response goes out as the product made it.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from agent_feedback import files
from agent_feedback.eligibility import PathRules, by_name, is_eligible
from agent_feedback.operation import normalize_operation
from agent_feedback.splice import splice

if TYPE_CHECKING:
    from agent_feedback.client import AgentFeedback

logger = logging.getLogger("agent_feedback")

Headers = list[tuple[str, str]]

# The first describe the bytes as they were; the last would let a cache keep what is for one customer.
_REPLACED = frozenset(
    {"content-length", "etag", "digest", "content-digest", "repr-digest", "content-md5", "accept-ranges"}
    | {"cache-control", "cdn-cache-control", "surrogate-control", "expires"}
)


class WsgiAdapter:
    """A WSGI application around another one."""

    def __init__(self, app: Callable[..., Any], client: "AgentFeedback") -> None:
        self._app, self._client = app, client
        options = client.options
        self._paths = PathRules(options.include, options.exclude)
        discovery = options.endpoint + files.read("contract.json")["paths"]["discovery"]
        self._link = f'<{discovery}>; rel="agent-feedback"; type="application/json"'
        self._known_mistakes: set[str] = set()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        path = _path(environ)
        # The headers of a HEAD response speak of a body that nobody sends.
        if environ.get("REQUEST_METHOD") == "HEAD" or not self._paths.covers(path):
            return self._app(environ, start_response)  # type: ignore[no-any-return]
        return self._watch(environ, start_response, path)

    def _watch(self, environ: dict[str, Any], start_response: Callable[..., Any], path: str) -> Iterable[bytes]:
        began, held = time.perf_counter(), _Held(start_response, self._client.options)
        chunks = self._app(environ, held)
        if not held.is_eligible or not held.is_short(chunks):
            held.settle()
            return chunks  # type: ignore[no-any-return]
        try:
            read = _ReadAhead(chunks, self._client.options.max_body_bytes)
            duration_ms = (time.perf_counter() - began) * 1000
            if held.is_eligible:  # else it wrote, or started over, while its body was read
                self._finish(environ, read, held, path, duration_ms)
        except BaseException:
            _close(chunks)
            raise
        return read if read.is_used_up else chunks

    def _finish(
        self, environ: dict[str, Any], read: "_ReadAhead", held: "_Held", path: str, duration_ms: float
    ) -> None:
        extended = self._extend(environ, read, held, path, duration_ms)
        if extended is None:
            held.settle()
            return
        kept = [(name, value) for name, value in held.headers if name.lower() not in _REPLACED]
        kept += [("Content-Length", str(len(extended))), ("Cache-Control", "private, no-store"), ("Link", self._link)]
        held.settle(kept)
        read.replace(extended)

    def _extend(
        self, environ: dict[str, Any], read: "_ReadAhead", held: "_Held", path: str, duration_ms: float
    ) -> bytes | None:
        try:
            body = read.body()
            if body is None or held.length not in (None, len(body)):
                return None
            interaction = self._client.prepare()
            references = interaction.references(environ)
            extended = splice(body, interaction.envelope(references.get("customerRef")))
            if extended is not None:
                interaction.tell(
                    "http_json",
                    normalize_operation(path),
                    statusCode=held.status_code,
                    durationMs=round(duration_ms, 3),
                    **references,
                )
        except Exception as error:  # a callback of the company, or a mistake of ours
            self._warn(type(error).__name__)
            return None
        return extended

    def _warn(self, mistake: str) -> None:
        """Warn once of each kind: there may be thousands of responses a second."""
        if mistake not in self._known_mistakes:
            self._known_mistakes.add(mistake)
            logger.warning("no envelope was added (%s); the response is as the product made it", mistake)


class _Held:
    """Holds an eligible response's start back until its body is known; lets every other one start at once."""

    def __init__(self, start_response: Callable[..., Any], options: Any) -> None:
        self._start_response, self._options = start_response, options
        self.lets_pass = self.is_eligible = False
        self.status_code = 0
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
            self.status_code = int(status[:3])
            length = named.get("content-length")
            self.length = None if length is None else int(length)
            return is_eligible(self.status_code, named, self._options)
        except Exception:  # what is no response is for the server to refuse
            return False

    def _write(self, data: bytes) -> None:
        """Serve an application that writes its body instead of returning it: nothing can be added to that."""
        self.settle()
        self._writer(data)


class _ReadAhead:
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
        _close(self._source)


def _close(chunks: Any) -> None:
    if hasattr(chunks, "close"):
        chunks.close()


def _path(environ: dict[str, Any]) -> str:
    """Return the path as text; WSGI has its bytes as Latin-1."""
    path: str = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    return path.encode("latin-1", "replace").decode("utf-8", "replace")
