"""How requests are answered that never reach the app, in the shape of every other error."""

import json
import logging
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

from gunicorn.http import errors

logger = logging.getLogger("agent_feedback.access")


class Rejection(NamedTuple):
    """The answer to a request that the app is not given."""

    status: int
    reason: str
    code: str
    sentence: str
    headers: str = ""
    """Further header lines, each with its end."""


REQUEST_TIMEOUT = Rejection(
    408,
    "Request Timeout",
    "request_timeout",
    "The request did not arrive in time; send it at once.",
)
OVERLOADED = Rejection(
    503,
    "Service Unavailable",
    "unavailable",
    "The service cannot do this right now; please try again shortly.",
    "Retry-After: 1\r\n",
)

NOT_HTTP = Rejection(
    400, "Bad Request", "bad_request", "This is not a valid HTTP request; check the request line and the headers."
)
_REJECTIONS: tuple[tuple[type[Exception], Rejection], ...] = (
    (
        errors.LimitRequestLine,
        Rejection(414, "URI Too Long", "request_uri_too_long", "The request line is too long; shorten the URL."),
    ),
    (
        errors.LimitRequestHeaders,
        Rejection(
            431,
            "Request Header Fields Too Large",
            "request_header_fields_too_large",
            "The headers are too large or too many; send fewer or shorter ones.",
        ),
    ),
    (
        errors.ExpectationFailed,
        Rejection(417, "Expectation Failed", "expectation_failed", "Only Expect: 100-continue is supported."),
    ),
    (
        errors.UnsupportedTransferCoding,
        Rejection(
            501, "Not Implemented", "not_implemented", "The only supported transfer coding is chunked, exactly once."
        ),
    ),
    (errors.ForbiddenProxyRequest, Rejection(403, "Forbidden", "forbidden", "This is not allowed.")),
    (errors.ParseException, NOT_HTTP),
)


_listeners: list[Callable[[Rejection], None]] = []


def set_listener(listener: Callable[[Rejection], None]) -> None:
    """Call a function with every rejection of this process from now on, in place of the one before."""
    _listeners[:] = [listener]


def find_rejection(error: Exception) -> Rejection | None:
    """Return how a parser's error is answered; None for an error that is not the client's."""
    if isinstance(error, (errors.InvalidResponseHeader, errors.InvalidResponseHeaderName, errors.ConfigurationProblem)):
        return None
    return next((rejection for kind, rejection in _REJECTIONS if isinstance(error, kind)), None)


def reject(rejection: Rejection) -> bytes:
    """Write the log line of a rejected request, and return the whole HTTP response, which also ends the connection."""
    for listener in _listeners:
        listener(rejection)
    request_id = uuid.uuid4().hex
    logger.info("request", extra={"requestId": request_id, "status": rejection.status, "route": None})
    content: dict[str, Any] = {"error": rejection.sentence, "code": rejection.code, "requestId": request_id}
    if rejection.status == NOT_HTTP.status:
        content["errors"] = [{"pointer": "", "code": rejection.code, "message": rejection.sentence}]
    body = json.dumps(content, separators=(",", ":")).encode()
    head = (
        f"HTTP/1.1 {rejection.status} {rejection.reason}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\n"
        f"{rejection.headers}"
        f"X-Request-Id: {request_id}\r\n\r\n"
    )
    return head.encode() + body
