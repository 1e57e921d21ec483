"""Small WSGI products, and a client that sees exactly what the adapter lets through."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

from agent_feedback import AgentFeedback

from tests.sdk.endpoint import KEY

App = Callable[..., Iterable[bytes]]
Headers = list[tuple[str, str]]

JSON = ("Content-Type", "application/json")
BODY = b'{"a": 1.0}\n'


@dataclass
class Response:
    """One response as a server sees it."""

    status: str = ""
    headers: Headers = field(default_factory=list)
    body: bytes = b""
    starts: int = 0

    def get_all(self, name: str) -> list[str]:
        return [value for header_name, value in self.headers if header_name.lower() == name.lower()]

    @property
    def has_envelope(self) -> bool:
        return b'"_agentFeedback":' in self.body


class CountingBody:
    """A body that counts how often it is closed."""

    def __init__(self, *chunks: bytes, fails_after: int | None = None) -> None:
        self._chunks, self._fails_after, self.closed = chunks, fails_after, 0

    def __iter__(self) -> Iterator[bytes]:
        for number, chunk in enumerate(self._chunks):
            if number == self._fails_after:
                raise LookupError("the product's own")
            yield chunk

    def close(self) -> None:
        self.closed += 1


class Client(AgentFeedback):
    """A client that keeps its telemetry instead of sending it."""

    def __init__(self, *, url: str = "https://feedback.example.com", **settings: Any) -> None:
        super().__init__(KEY, endpoint=url, **settings)
        self.events: list[dict[str, Any]] = []
        self.telemetry.put = self.events.append


def make_app(
    body: bytes | Iterable[bytes] = BODY,
    status: str = "200 OK",
    headers: Headers | None = None,
    *,
    has_length: bool = True,
) -> App:
    """Return a product that always answers alike; JSON unless headers say otherwise."""

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_headers = list([JSON] if headers is None else headers)
        if isinstance(body, bytes) and has_length and "204" not in status:
            start_headers.append(("Content-Length", str(len(body))))
        start_response(status, start_headers)
        return [body] if isinstance(body, bytes) else body

    return app


def fetch(app: App, path: str = "/orders/12", *, is_strict: bool = True, **environ: Any) -> Response:
    """Ask once, as a server does; `is_strict` has the standard library check every rule of WSGI."""
    response, content = Response(), bytearray()
    request: dict[str, Any] = {"SCRIPT_NAME": "", "PATH_INFO": path, "QUERY_STRING": "", **environ}
    setup_testing_defaults(request)

    def start_response(status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], Any]:
        response.status, response.headers = status, headers
        response.starts += 1
        return content.extend

    chunks = (validator(app) if is_strict else app)(request, start_response)
    try:
        for chunk in chunks:
            content += chunk
    finally:
        if hasattr(chunks, "close"):
            chunks.close()
    response.body = bytes(content)
    return response


def fetch_both(app: App, feedback: Client, path: str = "/orders/12", **environ: Any) -> tuple[Response, Response]:
    """Return what the product answers without and with the adapter."""
    is_strict = environ.pop("is_strict", True)
    inner = validator(app) if is_strict else app
    plain = fetch(inner, path, is_strict=is_strict, **environ)
    return plain, fetch(feedback.wsgi(inner), path, is_strict=is_strict, **environ)
