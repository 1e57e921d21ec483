"""The WSGI adapter: appends the envelope to JSON objects and lets everything else pass byte for byte.

Whatever goes wrong in here, the product's response goes out as the product made it.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from agent_feedback import files
from agent_feedback.eligibility import PathRules, is_eligible
from agent_feedback.operation import normalize_operation
from agent_feedback.splice import splice

if TYPE_CHECKING:
    from agent_feedback.client import AgentFeedback

logger = logging.getLogger("agent_feedback")

Headers = list[tuple[str, str]]

# These describe the bytes as they were.
_STALE = frozenset(
    {"content-length", "etag", "digest", "content-digest", "repr-digest", "content-md5", "accept-ranges"}
)


class WsgiAdapter:
    """A WSGI application around another one."""

    def __init__(self, app: Callable[..., Any], client: "AgentFeedback") -> None:
        self._app, self._client = app, client
        options = client.options
        self._paths = PathRules(options.include, options.exclude)
        discovery = options.endpoint + files.read("contract.json")["paths"]["discovery"]
        self._link = f'<{discovery}>; rel="agent-feedback"; type="application/json"'

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        if not self._paths.covers(path):
            return self._app(environ, start_response)  # type: ignore[no-any-return]
        return self._watch(environ, start_response, path)

    def _watch(self, environ: dict[str, Any], start_response: Callable[..., Any], path: str) -> Iterable[bytes]:
        began, held = time.perf_counter(), _Held(start_response, self._client.options)
        chunks = self._app(environ, held)
        if not held.is_called:
            # A generator starts its response with its first chunk.
            return _late(chunks, start_response, held)
        if not held.is_eligible:
            return chunks  # type: ignore[no-any-return]
        body = _collect(chunks, held.length, self._client.options.max_body_bytes)
        if body is None:
            held.release()
            return chunks  # type: ignore[no-any-return]
        duration_ms = (time.perf_counter() - began) * 1000
        extended = self._extend(environ, body, held, path, duration_ms)
        if extended is None:
            held.release()
            return [body]
        kept = [(name, value) for name, value in held.headers if name.lower() not in (*_STALE, "cache-control")]
        kept += [("Content-Length", str(len(extended))), ("Cache-Control", "private, no-store"), ("Link", self._link)]
        held.release(kept)
        return [extended]

    def _extend(
        self, environ: dict[str, Any], body: bytes, held: "_Held", path: str, duration_ms: float
    ) -> bytes | None:
        try:
            interaction = self._client.prepare()
            extended = splice(body, interaction.envelope())
            if extended is not None:
                interaction.tell(
                    "http_json",
                    normalize_operation(path),
                    statusCode=held.status_code,
                    durationMs=round(duration_ms, 3),
                    **interaction.references(environ),
                )
        except Exception as error:  # a callback of the company, or a mistake of ours
            logger.warning("no envelope was added (%s)", type(error).__name__)
            return None
        return extended


class _Held:
    """Holds an eligible response's start back until its body is known; lets every other one start at once."""

    def __init__(self, start_response: Callable[..., Any], options: Any) -> None:
        self._start_response, self._options = start_response, options
        self.is_called = self.is_eligible = False
        self.status = ""
        self.headers: Headers = []
        self.length: int | None = None

    def __call__(self, status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], Any]:
        self.is_called, self.status, self.headers = True, status, headers
        named = {name.lower(): value for name, value in headers}
        length = named.get("content-length", "")
        self.length = int(length) if length.isdigit() else None
        self.is_eligible = exc_info is None and is_eligible(self.status_code, named, self._options)
        if self.is_eligible:
            return self._write
        return self._start_response(status, headers, exc_info)  # type: ignore[no-any-return]

    @property
    def status_code(self) -> int:
        return int(self.status[:3])

    def release(self, headers: Headers | None = None) -> Any:
        """Start the response."""
        self.is_eligible = False
        return self._start_response(self.status, self.headers if headers is None else headers)

    def _write(self, data: bytes) -> None:
        """Serve an application that writes its body instead of returning it: nothing can be added to that."""
        if self.is_eligible:
            self._writer = self.release()
        self._writer(data)


def _collect(chunks: Any, length: int | None, limit: int) -> bytes | None:
    """Return a finite body, or None if it may be a stream or is too long; then no chunk has been taken."""
    if not isinstance(chunks, (list, tuple)) and (length is None or length > limit):
        return None
    if isinstance(chunks, (list, tuple)) and sum(map(len, chunks)) > limit:
        return None
    try:
        return b"".join(chunks)
    finally:
        if hasattr(chunks, "close"):
            chunks.close()


def _late(chunks: Any, start_response: Callable[..., Any], held: _Held) -> Iterator[bytes]:
    """Pass a generator's chunks on, starting the response when the generator has."""
    try:
        for chunk in chunks:
            if held.is_eligible:
                held.release()
            yield chunk
        if held.is_eligible:
            held.release()
    finally:
        if hasattr(chunks, "close"):
            chunks.close()
