"""The WSGI adapter: adds the envelope and the context action to eligible responses, and passes all others unchanged.

Whatever fails in here, the product's response leaves as the product made it.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from agent_feedback.adapters.wsgi_input import read_input
from agent_feedback.adapters.wsgi_response import BufferedBody, BufferedResponse, close_body
from agent_feedback.context.interaction import INTERACTION_KEY
from agent_feedback.instrumentation import Headers, Instrumentation, make_private
from agent_feedback.relay import Relay, RelayRequest, mount_path

_CGI_NAMES = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


class WsgiRequest:
    """A request, read from a WSGI environment."""

    def __init__(self, environ: dict[str, Any]) -> None:
        self.source = environ
        self.method: str = environ.get("REQUEST_METHOD", "")
        self.path = _decode(environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", ""))

    @cached_property
    def target(self) -> str:
        """The path and the query of the request line; the servers that keep it name it RAW_URI or REQUEST_URI."""
        raw = self.source.get("RAW_URI") or self.source.get("REQUEST_URI") or ""
        if raw.startswith("/"):
            return str(raw)
        query = self.source.get("QUERY_STRING", "")
        return quote(self.path) + (f"?{query}" if query else "")

    @cached_property
    def mount(self) -> str:
        """The percent-encoded path under which the application is mounted."""
        return mount_path(_decode(self.source.get("SCRIPT_NAME", "")))

    @property
    def client_address(self) -> str | None:
        """The address of the peer."""
        return self.source.get("REMOTE_ADDR")

    def header(self, name: str) -> str | None:
        """Return the value of a header by its lower-cased name, or None."""
        return self.source.get(_CGI_NAMES.get(name) or "HTTP_" + name.upper().replace("-", "_"))


class WsgiAdapter:
    """A WSGI application around the product's."""

    def __init__(self, app: Callable[..., Any], instrumentation: Instrumentation) -> None:
        self._app, self._instrumentation = app, instrumentation

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        relay = self._instrumentation.relay
        if relay is not None and relay.serves(environ.get("PATH_INFO", "")):
            return _relay(relay, environ, start_response)
        request = WsgiRequest(environ)
        if not self._instrumentation.covers(request):
            return self._app(environ, start_response)  # type: ignore[no-any-return]  # the product's app is untyped
        return self._run(request, start_response)

    def _run(self, request: WsgiRequest, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Run the product and buffer its response as far as it may be modified."""
        instrumentation, environ = self._instrumentation, request.source
        slot = instrumentation.open_slot(request)
        if INTERACTION_KEY in environ:
            start_response = _make_private(start_response)
        response = BufferedResponse(start_response, instrumentation, request, slot)
        chunks = self._app(environ, response)
        if not response.is_called and not isinstance(chunks, (list, tuple)) and hasattr(chunks, "__iter__"):
            chunks = _with_first_chunk(chunks)
        head = response.head
        if head is None or not instrumentation.is_bounded(head, is_complete=isinstance(chunks, (list, tuple))):
            response.start()
            return chunks  # type: ignore[no-any-return]  # the product's app is untyped
        if not head.is_modifiable:
            response.start(head.headers)
            return chunks  # type: ignore[no-any-return]  # as above
        try:
            body = chunks if isinstance(chunks, BufferedBody) else BufferedBody(chunks)
            response.finish(body)
        except BaseException:
            close_body(chunks)
            raise
        return body if body.replaces_source else chunks


def _with_first_chunk(chunks: Iterable[bytes]) -> BufferedBody:
    """Return the body of an application that starts its response with its first chunk, as a generator does."""
    try:
        body = BufferedBody(chunks)
        body.read_chunk()
    except BaseException:
        close_body(chunks)
        raise
    return body


def _relay(relay: Relay, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer an agent's request, which the product's own code never sees."""
    request = RelayRequest(
        environ.get("REQUEST_METHOD", ""),
        environ.get("PATH_INFO", ""),
        environ.get("HTTP_AUTHORIZATION", ""),
        mount_path(_decode(environ.get("SCRIPT_NAME", ""))),
    )
    response = relay.answer(request, lambda: read_input(environ))
    start_response(_status_line(response.status), response.headers)
    return [b"" if environ.get("REQUEST_METHOD") == "HEAD" else response.body]


def _status_line(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status} Unknown"


def _make_private(start_response: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `start_response` that keeps the response out of caches."""

    def start(status: str, headers: Headers, *exc_info: Any) -> Any:
        return start_response(status, make_private(headers), *exc_info)

    return start


def _decode(path: str) -> str:
    """Return a path as text; WSGI holds its bytes as Latin-1."""
    return path.encode("latin-1", "replace").decode("utf-8", "replace")
