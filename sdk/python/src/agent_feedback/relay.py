"""The agent's way to the service over the company's own origin: a handle and a short list of values, nothing else."""

import http.client
import json
import logging
import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote, urlsplit

from agent_feedback import files
from agent_feedback.bounded import Answered, BoundedCalls
from agent_feedback.pause import Pause

LONGEST_ANSWER = 1024 * 1024
RETRY_AFTER_S = 1
"""Agents are asked to wait this long; no thread of the product waits for the service meanwhile."""

_MOST_DIGITS = 12

logger = logging.getLogger("agent_feedback")

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([!-~]+)\Z")
_LAW: dict[str, Any] = files.read("contract.json")["relay"]
_HANDLE = re.compile(_LAW["handle"].removesuffix("$") + r"\Z")
_RELAYED: dict[str, str] = _LAW["paths"]
_SCALARS = (str, int, float, bool, type(None))


class Refusal(Exception):
    """An answer of the relay itself."""

    def __init__(self, status: str, code: str, sentence: str, **more: Any) -> None:
        super().__init__(code)
        self.status, self.content = status, {"error": sentence, "code": code, **more}


def _not_found() -> Refusal:
    return Refusal("404 Not Found", "not_found", "There is nothing at this address.")


def _away() -> Refusal:
    sentence = "The service cannot be reached; please try again."
    return Refusal("503 Service Unavailable", "service_unavailable", sentence, retryable=True)


def _bad_body(sentence: str, status: str = "400 Bad Request") -> Refusal:
    return Refusal(status, "invalid_customer_context_body", sentence)


def rewrite(value: Any, mount: str = "") -> Any:
    """Return an answer in which every action leads over the company's origin; one that could not is None."""
    if isinstance(value, list):
        return [rewrite(entry, mount) for entry in value]
    if not isinstance(value, dict):
        return value
    rewritten = {name: rewrite(entry, mount) for name, entry in value.items()}
    if "url" in value:
        path = _relay_path(value["url"])
        if path is None:
            return None
        rewritten["url"] = mount + path
    return rewritten


def _relay_path(url: Any) -> str | None:
    try:
        path = urlsplit(url).path if isinstance(url, str) else ""
    except ValueError:
        return None
    return next((ours for ours, theirs in _RELAYED.items() if path.endswith(theirs)), None)


def mount_of(script_name: str) -> str:
    """Return the path under which a WSGI application is mounted; never one that reads as another host."""
    inner = quote(script_name.encode("latin-1", "replace")).strip("/")
    return f"/{inner}" if inner else ""


def read_body(path: str, text: bytes) -> dict[str, Any]:
    """Return what may be forwarded to a relay path, or raise `Refusal`."""
    allowed = _LAW["bodies"][path]
    try:
        body = json.loads(text.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise _bad_body("The body is not JSON.") from None
    if not isinstance(body, dict):
        raise _bad_body("The body is not an object.")
    for name, value in body.items():
        if name == "items" and allowed["items"] is not None:
            _check_items(value, allowed["items"])
        elif name not in allowed["members"]:
            raise _bad_body(f"The body may have {', '.join(_names(allowed))} and nothing else.")
        elif not isinstance(value, _SCALARS):
            raise _bad_body("Each value of the body is a text, a number or a boolean.")
    return body


def _names(allowed: dict[str, Any]) -> list[str]:
    return [*allowed["members"], *(["items"] if allowed["items"] else [])]


def _check_items(items: Any, names: list[str]) -> None:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _bad_body("items is a list of objects.")
    for item in items:
        if not item.keys() <= set(names):
            raise _bad_body(f"Each item may have {', '.join(names)} and nothing else.")
        if not all(isinstance(value, _SCALARS) for value in item.values()):
            raise _bad_body("Each value of an item is a text, a number or a boolean.")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


class Relay:
    """A WSGI application for everything under the relay's prefix."""

    def __init__(self, endpoint: str, timeout: float) -> None:
        self._calls, self._timeout = BoundedCalls(endpoint, LONGEST_ANSWER), timeout
        self._pause = Pause(RETRY_AFTER_S)
        self._is_warned = False

    @staticmethod
    def serves(environ: dict[str, Any]) -> bool:
        """Tell whether a request is for the relay."""
        path = environ.get("PATH_INFO", "")
        prefix: str = _LAW["prefix"]
        return isinstance(path, str) and path.startswith(prefix) and path[len(prefix) :][:1] in ("", "/")

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer an agent; the product's own code never sees this request."""
        more: list[tuple[str, str]] = []
        try:
            path, handle, body = _admit(environ)
            status, content, more = self._forward(path, handle, body, mount_of(environ.get("SCRIPT_NAME", "")))
        except Refusal as refusal:
            status, content = refusal.status, refusal.content
            if refusal.content.get("retryable"):
                more = [("Retry-After", str(RETRY_AFTER_S))]
        if status.startswith("401"):
            more = [*more, ("WWW-Authenticate", "Bearer")]
        text = json.dumps(content, separators=(",", ":")).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(text)))]
        start_response(status, [*headers, ("Cache-Control", "private, no-store"), *more])
        return [b"" if environ.get("REQUEST_METHOD") == "HEAD" else text]

    def _forward(
        self, path: str, handle: str, body: bytes, mount: str
    ) -> tuple[str, dict[str, Any], list[tuple[str, str]]]:
        if self._pause.holds():
            raise _away()
        try:
            headers = {"Authorization": f"Bearer {handle}"}
            answered = self._calls.call("POST", _RELAYED[path], body, headers, self._timeout)
            self._pause.end()
            content = _content(answered)
            rewritten = rewrite(content, mount) or {}
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            self._pause.begin()
            self._warn(type(error).__name__)
            raise _away() from None
        told = answered.retry_after or ""
        later = [("Retry-After", told)] if told.isascii() and told.isdigit() else []
        phrase = http.client.responses.get(answered.status, "Unknown")
        return f"{answered.status} {phrase}", rewritten, later

    def _warn(self, mistake: str) -> None:
        if not self._is_warned:
            self._is_warned = True
            logger.warning("the relay cannot reach the service (%s); agents are asked to try again", mistake)


def _content(answered: Answered) -> dict[str, Any]:
    """Return the service's answer; raise ValueError for what is none, and `Refusal` for a redirect."""
    if 300 <= answered.status < 400:
        raise Refusal("502 Bad Gateway", "service_redirect_rejected", "The service answered with a redirect.")
    if answered.status >= 500 or answered.status < 200:
        raise ValueError("not an answer to pass on")
    content = json.loads(answered.body)
    if not isinstance(content, dict):
        raise ValueError("not an object")
    return content


def _admit(environ: dict[str, Any]) -> tuple[str, str, bytes]:
    """Return the path, the handle and the body of a request that may be forwarded, or raise `Refusal`."""
    path: str = environ.get("PATH_INFO", "")
    if path not in _RELAYED or environ.get("REQUEST_METHOD") != "POST":
        raise _not_found()
    told = _BEARER.match(environ.get("HTTP_AUTHORIZATION", ""))
    if told is None or not _HANDLE.match(told[1]):
        raise Refusal(
            "401 Unauthorized", "invalid_customer_context_handle", "A handle of this product's response is needed."
        )
    body = read_body(path, _text(environ))
    try:
        return path, told[1], json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
    except ValueError:
        raise _bad_body("A number of the body is out of range.") from None


def _text(environ: dict[str, Any]) -> bytes:
    """Return the body of a request, or raise `Refusal`; one without a length ends only if the server says so."""
    longest: int = _LAW["maxBodyBytes"]
    told = environ.get("CONTENT_LENGTH") or ""
    if not told and environ.get("wsgi.input_terminated"):
        length = longest + 1
    elif told.isascii() and told.isdigit():
        length = int(told[:_MOST_DIGITS])
    else:
        raise _bad_body("The body is missing.")
    if length > longest and told:
        raise _bad_body(f"The body is larger than {longest} bytes.", "413 Content Too Large")
    return _read(environ["wsgi.input"], length, longest, is_exact=bool(told))


def _read(stream: Any, length: int, longest: int, *, is_exact: bool) -> bytes:
    text = bytearray()
    try:
        while len(text) < length and (piece := stream.read(length - len(text))):
            text += piece
    except (OSError, ValueError):
        raise _bad_body("The body cannot be read.") from None
    if len(text) > longest:
        raise _bad_body(f"The body is larger than {longest} bytes.", "413 Content Too Large")
    if is_exact and len(text) < length:
        raise _bad_body("The body is cut short.")
    return bytes(text)
