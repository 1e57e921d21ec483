"""Reading a request's body, within a limit and however it is framed."""

from flask import Request, g
from werkzeug.exceptions import RequestEntityTooLarge

from app.core.errors import BodyTooLarge, IncompleteBody, UnsupportedEncoding
from config.body_limits import AGENT_BODY_BYTES, BATCH_BODY_BYTES

__all__ = ["AGENT_BODY_BYTES", "BATCH_BODY_BYTES", "has_unread_body", "read_body", "received_body"]


def read_body(request: Request, max_bytes: int) -> bytes:
    """Return the whole body, or raise `BodyTooLarge`, `IncompleteBody` or `UnsupportedEncoding`."""
    if request.headers.get("Content-Encoding", "identity").lower() not in ("", "identity"):
        raise UnsupportedEncoding
    announced_bytes = request.content_length or 0
    if announced_bytes > max_bytes:
        raise BodyTooLarge(max_bytes)
    # One byte more: a chunked body beyond the limit would otherwise end at it in silence.
    request.max_content_length = max_bytes + 1
    try:
        body = request.get_data(cache=False)
    except RequestEntityTooLarge:
        raise BodyTooLarge(max_bytes) from None
    except Exception:  # each server has its own errors for malformed chunks and cut connections
        raise IncompleteBody from None
    # A server that ends its stream by itself, as gunicorn does, also ends it where the connection was cut.
    if len(body) < announced_bytes:
        raise IncompleteBody
    if len(body) > max_bytes:
        raise BodyTooLarge(max_bytes)
    g.body = body
    return body


def received_body() -> bytes | None:
    """Return the body of the current request if it was read to its end."""
    body: bytes | None = g.get("body")
    return body


def has_unread_body(request: Request) -> bool:
    """Tell whether a request has a body that nothing has begun to read."""
    environ = request.environ
    has_body = environ.get("CONTENT_LENGTH") not in (None, "", "0") or "HTTP_TRANSFER_ENCODING" in environ
    # Werkzeug makes the stream on first use.
    return has_body and "stream" not in request.__dict__
