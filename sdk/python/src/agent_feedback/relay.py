"""The relay: forwards an agent's handle and allowlisted body from the company's own origin to the service."""

import json
import logging
import re
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from agent_feedback import protocol_files
from agent_feedback.errors import ServiceUnavailable
from agent_feedback.http.circuit_breaker import CircuitBreaker
from agent_feedback.http.client import HttpClient, HttpResponse

RETRY_AFTER_S = 1
"""The `Retry-After` of a 503, and how long after a failure no thread of the product waits for the service."""

logger = logging.getLogger("agent_feedback")

Headers = list[tuple[str, str]]

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([!-~]+)\Z")
_CONTRACT: dict[str, Any] = protocol_files.read("contract.json")["relay"]
_HANDLE = re.compile(_CONTRACT["handle"].removesuffix("$") + r"\Z")
_SERVICE_PATHS: dict[str, str] = _CONTRACT["paths"]
MAX_BODY_BYTES: int = _CONTRACT["maxBodyBytes"]
_SCALARS = (str, int, float, bool, type(None))


class RelayError(Exception):
    """An error that the relay itself answers with."""

    def __init__(self, status: int, code: str, sentence: str, **members: Any) -> None:
        super().__init__(code)
        self.status, self.content = status, {"error": sentence, "code": code, **members}


def _not_found() -> RelayError:
    return RelayError(404, "not_found", "There is nothing at this address.")


def unavailable() -> RelayError:
    """Return the error for a moment at which nothing can be forwarded."""
    sentence = "The service cannot be reached; please try again."
    return RelayError(503, "service_unavailable", sentence, retryable=True)


def bad_body(sentence: str) -> RelayError:
    """Return the error for a body that may not be forwarded."""
    return RelayError(400, "invalid_customer_context_body", sentence)


def large_body() -> RelayError:
    """Return the error for a body above the limit."""
    return RelayError(413, "invalid_customer_context_body", f"The body is larger than {MAX_BODY_BYTES} bytes.")


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


def mount_path(path: str) -> str:
    """Return the percent-encoded path of an application's mount; `//` never begins it, since that reads as a host."""
    segments = quote(path).strip("/")
    return f"/{segments}" if segments else ""


def read_body(path: str, text: bytes) -> dict[str, Any]:
    """Return the body for a relay path if it may be forwarded, or raise `RelayError`."""
    bounds = _CONTRACT["bodies"][path]
    try:
        body = json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise bad_body("The body is not JSON.") from None
    if not isinstance(body, dict):
        raise bad_body("The body is not an object.")
    for name, value in body.items():
        if name == "items" and bounds["items"] is not None:
            _check_items(value, bounds["items"])
        elif name not in bounds["members"]:
            raise bad_body(f"The body may have {', '.join(_names(bounds))} and nothing else.")
        elif not isinstance(value, _SCALARS):
            raise bad_body("Each value of the body is a text, a number or a boolean.")
    return body


def _names(bounds: dict[str, Any]) -> list[str]:
    return [*bounds["members"], *(["items"] if bounds["items"] else [])]


def _check_items(items: Any, names: list[str]) -> None:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise bad_body("items is a list of objects.")
    for item in items:
        if not item.keys() <= set(names):
            raise bad_body(f"Each item may have {', '.join(names)} and nothing else.")
        if not all(isinstance(value, _SCALARS) for value in item.values()):
            raise bad_body("Each value of an item is a text, a number or a boolean.")


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


class RelayRequest(NamedTuple):
    """An agent's request under the relay's prefix, without its body."""

    method: str
    path: str
    authorization: str
    mount: str
    """The percent-encoded path under which the application is mounted."""


class RelayResponse(NamedTuple):
    """The answer to an agent."""

    status: int
    headers: Headers
    body: bytes


class Relay:
    """Answers everything under the relay's prefix."""

    def __init__(self, endpoint: str, timeout_s: float) -> None:
        self._http, self.timeout_s = HttpClient(endpoint), timeout_s
        self._breaker = CircuitBreaker(RETRY_AFTER_S)
        self._has_warned = False

    @staticmethod
    def serves(path: Any) -> bool:
        """Tell whether a path, without the mount, is the relay's."""
        prefix: str = _CONTRACT["prefix"]
        return isinstance(path, str) and path.startswith(prefix) and path[len(prefix) :][:1] in ("", "/")

    def answer(self, request: RelayRequest, read: Callable[[], bytes]) -> RelayResponse:
        """Answer a request; `read` returns its body of at most `MAX_BODY_BYTES`, or raises `RelayError`."""
        extra_headers: Headers = []
        try:
            handle = _read_handle(request)
            body = _forwarded_body(request.path, read())
            status, content, extra_headers = self._forward(request, handle, body)
        except RelayError as error:
            status, content = error.status, error.content
            if error.content.get("retryable"):
                extra_headers = [("Retry-After", str(RETRY_AFTER_S))]
        if status == 401:
            extra_headers = [*extra_headers, ("WWW-Authenticate", "Bearer")]
        text = json.dumps(content, separators=(",", ":")).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(text)))]
        return RelayResponse(status, [*headers, ("Cache-Control", "private, no-store"), *extra_headers], text)

    def _forward(self, request: RelayRequest, handle: str, body: bytes) -> tuple[int, dict[str, Any], Headers]:
        """Return status, content and further headers of the service's answer, or raise `RelayError`."""
        if self._breaker.is_open():
            raise unavailable()
        try:
            response = self._http.post(_SERVICE_PATHS[request.path], body, handle, self.timeout_s)
            self._breaker.close()
            content = rewrite_urls(_parse(response), request.mount) or {}
        except (ServiceUnavailable, ValueError, RecursionError) as error:
            self._breaker.open()
            self._warn(str(error) if isinstance(error, ServiceUnavailable) else "it cannot be read")
            raise unavailable() from None
        retry_after = response.retry_after or ""
        headers = [("Retry-After", retry_after)] if retry_after.isascii() and retry_after.isdigit() else []
        return response.status, content, headers

    def _warn(self, reason: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            logger.warning("the relay has no answer of the service: %s; agents are asked to try again", reason)


def _parse(response: HttpResponse) -> dict[str, Any]:
    """Return the service's JSON object; raise ValueError for any other answer, and `RelayError` for a redirect."""
    if 300 <= response.status < 400:
        raise RelayError(502, "service_redirect_rejected", "The service answered with a redirect.")
    if response.status >= 500 or response.status < 200:
        raise ValueError("no answer to pass on")
    content = json.loads(response.body)
    if not isinstance(content, dict):
        raise ValueError("not an object")
    return content


def _read_handle(request: RelayRequest) -> str:
    """Return the handle of a request for one of the relay's paths, or raise `RelayError`."""
    if request.path not in _SERVICE_PATHS or request.method != "POST":
        raise _not_found()
    bearer = _BEARER.match(request.authorization)
    if bearer is None or not _HANDLE.match(bearer[1]):
        raise RelayError(401, "invalid_customer_context_handle", "A handle of this product's response is needed.")
    return bearer[1]


def _forwarded_body(path: str, text: bytes) -> bytes:
    """Return the body that is forwarded, or raise `RelayError`."""
    body = read_body(path, text)
    try:
        return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
    except ValueError:
        raise bad_body("A number of the body is out of range.") from None
