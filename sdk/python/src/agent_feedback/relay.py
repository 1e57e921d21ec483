"""The relay: forwards an agent's handle and allowlisted body from the company's own origin to the service."""

import json
import logging
import re
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

from agent_feedback import protocol_files
from agent_feedback.errors import ServiceUnavailable
from agent_feedback.http.circuit_breaker import CircuitBreaker
from agent_feedback.http.client import HttpClient, HttpResponse

RETRY_AFTER_S = 1
"""The `Retry-After` of a 503, and how long after a failure no thread of the product waits for the service."""

_MAX_DIGITS = 12

logger = logging.getLogger("agent_feedback")

Headers = list[tuple[str, str]]

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([!-~]+)\Z")
_CONTRACT: dict[str, Any] = protocol_files.read("contract.json")["relay"]
_HANDLE = re.compile(_CONTRACT["handle"].removesuffix("$") + r"\Z")
_SERVICE_PATHS: dict[str, str] = _CONTRACT["paths"]
_SCALARS = (str, int, float, bool, type(None))


class RelayError(Exception):
    """An error that the relay itself answers with."""

    def __init__(self, status: str, code: str, sentence: str, **members: Any) -> None:
        super().__init__(code)
        self.status, self.content = status, {"error": sentence, "code": code, **members}


def _not_found() -> RelayError:
    return RelayError("404 Not Found", "not_found", "There is nothing at this address.")


def _unavailable() -> RelayError:
    sentence = "The service cannot be reached; please try again."
    return RelayError("503 Service Unavailable", "service_unavailable", sentence, retryable=True)


def _bad_body(sentence: str, status: str = "400 Bad Request") -> RelayError:
    return RelayError(status, "invalid_customer_context_body", sentence)


def rewrite_urls(value: Any, mount: str = "") -> Any:
    """Point every action of an answer to the relay; an action that the relay does not forward becomes None."""
    if isinstance(value, list):
        return [rewrite_urls(entry, mount) for entry in value]
    if not isinstance(value, dict):
        return value
    entries = {name: rewrite_urls(entry, mount) for name, entry in value.items()}
    if "url" in value:
        path = _relay_path(value["url"])
        if path is None:
            return None
        entries["url"] = mount + path
    return entries


def _relay_path(url: Any) -> str | None:
    try:
        path = urlsplit(url).path if isinstance(url, str) else ""
    except ValueError:
        return None
    return next((relay for relay, service in _SERVICE_PATHS.items() if path.endswith(service)), None)


def mount_path(script_name: str) -> str:
    """Return the path at which a WSGI application is mounted; `//` never begins it, since that reads as a host."""
    segments = quote(script_name.encode("latin-1", "replace")).strip("/")
    return f"/{segments}" if segments else ""


def read_body(path: str, text: bytes) -> dict[str, Any]:
    """Return the body for a relay path if it may be forwarded, or raise `RelayError`."""
    bounds = _CONTRACT["bodies"][path]
    try:
        body = json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise _bad_body("The body is not JSON.") from None
    if not isinstance(body, dict):
        raise _bad_body("The body is not an object.")
    for name, value in body.items():
        if name == "items" and bounds["items"] is not None:
            _check_items(value, bounds["items"])
        elif name not in bounds["members"]:
            raise _bad_body(f"The body may have {', '.join(_names(bounds))} and nothing else.")
        elif not isinstance(value, _SCALARS):
            raise _bad_body("Each value of the body is a text, a number or a boolean.")
    return body


def _names(bounds: dict[str, Any]) -> list[str]:
    return [*bounds["members"], *(["items"] if bounds["items"] else [])]


def _check_items(items: Any, names: list[str]) -> None:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _bad_body("items is a list of objects.")
    for item in items:
        if not item.keys() <= set(names):
            raise _bad_body(f"Each item may have {', '.join(names)} and nothing else.")
        if not all(isinstance(value, _SCALARS) for value in item.values()):
            raise _bad_body("Each value of an item is a text, a number or a boolean.")


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


class Relay:
    """A WSGI application for everything under the relay's prefix."""

    def __init__(self, endpoint: str, timeout_s: float) -> None:
        self._http, self._timeout_s = HttpClient(endpoint), timeout_s
        self._breaker = CircuitBreaker(RETRY_AFTER_S)
        self._has_warned = False

    @staticmethod
    def serves(environ: dict[str, Any]) -> bool:
        """Tell whether a request is for the relay."""
        path = environ.get("PATH_INFO", "")
        prefix: str = _CONTRACT["prefix"]
        return isinstance(path, str) and path.startswith(prefix) and path[len(prefix) :][:1] in ("", "/")

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer an agent's request, which the product's own code never sees."""
        extra_headers: Headers = []
        try:
            path, handle, body = _read_request(environ)
            mount = mount_path(environ.get("SCRIPT_NAME", ""))
            status, content, extra_headers = self._forward(path, handle, body, mount)
        except RelayError as error:
            status, content = error.status, error.content
            if error.content.get("retryable"):
                extra_headers = [("Retry-After", str(RETRY_AFTER_S))]
        if status.startswith("401"):
            extra_headers = [*extra_headers, ("WWW-Authenticate", "Bearer")]
        text = json.dumps(content, separators=(",", ":")).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(text)))]
        start_response(status, [*headers, ("Cache-Control", "private, no-store"), *extra_headers])
        return [b"" if environ.get("REQUEST_METHOD") == "HEAD" else text]

    def _forward(self, path: str, handle: str, body: bytes, mount: str) -> tuple[str, dict[str, Any], Headers]:
        """Return status line, content and further headers of the service's answer, or raise `RelayError`."""
        if self._breaker.is_open():
            raise _unavailable()
        try:
            response = self._http.post(_SERVICE_PATHS[path], body, handle, self._timeout_s)
            self._breaker.close()
            content = rewrite_urls(_parse(response), mount) or {}
        except (ServiceUnavailable, ValueError, RecursionError) as error:
            self._breaker.open()
            self._warn(str(error) if isinstance(error, ServiceUnavailable) else "it cannot be read")
            raise _unavailable() from None
        retry_after = response.retry_after or ""
        headers = [("Retry-After", retry_after)] if retry_after.isascii() and retry_after.isdigit() else []
        return _status_line(response.status), content, headers

    def _warn(self, reason: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            logger.warning("the relay has no answer of the service: %s; agents are asked to try again", reason)


def _status_line(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status} Unknown"


def _parse(response: HttpResponse) -> dict[str, Any]:
    """Return the service's JSON object; raise ValueError for any other answer, and `RelayError` for a redirect."""
    if 300 <= response.status < 400:
        raise RelayError("502 Bad Gateway", "service_redirect_rejected", "The service answered with a redirect.")
    if response.status >= 500 or response.status < 200:
        raise ValueError("no answer to pass on")
    content = json.loads(response.body)
    if not isinstance(content, dict):
        raise ValueError("not an object")
    return content


def _read_request(environ: dict[str, Any]) -> tuple[str, str, bytes]:
    """Return the path, the handle and the body of a request that may be forwarded, or raise `RelayError`."""
    path: str = environ.get("PATH_INFO", "")
    if path not in _SERVICE_PATHS or environ.get("REQUEST_METHOD") != "POST":
        raise _not_found()
    bearer = _BEARER.match(environ.get("HTTP_AUTHORIZATION", ""))
    if bearer is None or not _HANDLE.match(bearer[1]):
        raise RelayError(
            "401 Unauthorized", "invalid_customer_context_handle", "A handle of this product's response is needed."
        )
    body = read_body(path, _read_input(environ))
    try:
        return path, bearer[1], json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
    except ValueError:
        raise _bad_body("A number of the body is out of range.") from None


def _read_input(environ: dict[str, Any]) -> bytes:
    """Return the body of a request, or raise `RelayError`; without a length the server must say that its input ends."""
    max_length: int = _CONTRACT["maxBodyBytes"]
    content_length = environ.get("CONTENT_LENGTH") or ""
    if not content_length and environ.get("wsgi.input_terminated"):
        length = max_length + 1
    elif content_length.isascii() and content_length.isdigit():
        length = int(content_length[:_MAX_DIGITS])
    else:
        raise _bad_body("The body is missing.")
    if length > max_length and content_length:
        raise _bad_body(f"The body is larger than {max_length} bytes.", "413 Content Too Large")
    return _read_stream(environ["wsgi.input"], length, max_length, is_exact=bool(content_length))


def _read_stream(stream: Any, length: int, max_length: int, *, is_exact: bool) -> bytes:
    text = bytearray()
    try:
        while len(text) < length and (chunk := stream.read(length - len(text))):
            text += chunk
    except (OSError, ValueError):
        raise _bad_body("The body cannot be read.") from None
    if len(text) > max_length:
        raise _bad_body(f"The body is larger than {max_length} bytes.", "413 Content Too Large")
    if is_exact and len(text) < length:
        raise _bad_body("The body is cut short.")
    return bytes(text)
