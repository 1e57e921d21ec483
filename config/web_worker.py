"""gunicorn's threaded worker, with the service's own error body for requests that never reach the app."""

import json
import logging
import uuid
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gunicorn import util
from gunicorn.http import errors
from gunicorn.workers.gthread import ThreadWorker

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Wsgi = Callable[[Environ, StartResponse], Iterable[bytes]]

logger = logging.getLogger("agent_feedback.access")


class Rejection(NamedTuple):
    """How a request that is not valid HTTP is answered."""

    status: int
    reason: str
    code: str
    sentence: str


_NOT_HTTP = Rejection(
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
    (errors.ParseException, _NOT_HTTP),
)


class WebWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A threaded worker that answers in JSON and closes a connection when the app asks for it."""

    def load_wsgi(self) -> None:
        """Load the app behind `closing`."""
        super().load_wsgi()
        self.wsgi: Wsgi = closing(self.wsgi)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        """Answer a request that cannot be parsed in the shape of every other error."""
        rejection = find_rejection(exc)
        if rejection is None:
            super().handle_error(req, client, addr, exc)
            return
        request_id = uuid.uuid4().hex
        logger.info("request", extra={"requestId": request_id, "status": rejection.status, "route": None})
        try:
            util.write_nonblock(client, rejection_response(rejection, request_id))
        except OSError:
            self.log.debug("Failed to send error message.")


def find_rejection(error: Exception) -> Rejection | None:
    """Return how a parser's error is answered; None for an error that is not the client's."""
    if isinstance(error, (errors.InvalidResponseHeader, errors.InvalidResponseHeaderName, errors.ConfigurationProblem)):
        return None
    return next((rejection for kind, rejection in _REJECTIONS if isinstance(error, kind)), None)


def rejection_response(rejection: Rejection, request_id: str) -> bytes:
    """Return the whole HTTP response, which also ends the connection."""
    content: dict[str, Any] = {"error": rejection.sentence, "code": rejection.code, "requestId": request_id}
    if rejection.status == _NOT_HTTP.status:
        content["errors"] = [{"pointer": "", "code": rejection.code, "message": rejection.sentence}]
    body = json.dumps(content, separators=(",", ":")).encode()
    head = (
        f"HTTP/1.1 {rejection.status} {rejection.reason}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\n"
        f"X-Request-Id: {request_id}\r\n\r\n"
    )
    return head.encode() + body


def closing(wsgi: Wsgi) -> Wsgi:
    """Make gunicorn end the connection after a response that says `Connection: close`; it ignores that header."""

    def serve(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            if ("Connection", "close") in headers:
                start_response.__self__.force_close()  # type: ignore[attr-defined]  # a method of gunicorn's response
            return start_response(status, headers, exc_info)

        return wsgi(environ, start)

    return serve
