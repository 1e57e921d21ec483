"""Reading a request's body, within a limit and however it is framed."""

from flask import Request
from werkzeug.exceptions import BadRequest as WerkzeugBadRequest
from werkzeug.exceptions import RequestEntityTooLarge

from app.core.errors import BodyTooLarge, IncompleteBody, UnsupportedEncoding

AGENT_BODY_BYTES = 64 * 1024
BATCH_BODY_BYTES = 1024 * 1024


def read_body(request: Request, max_bytes: int) -> bytes:
    """Return the whole body, or raise `BodyTooLarge`, `IncompleteBody` or `UnsupportedEncoding`."""
    if request.headers.get("Content-Encoding", "identity").lower() not in ("", "identity"):
        raise UnsupportedEncoding
    # One byte more: a chunked body beyond the limit would otherwise end at it in silence.
    request.max_content_length = max_bytes + 1
    try:
        body = request.get_data(cache=False)
    except RequestEntityTooLarge:
        raise BodyTooLarge(max_bytes) from None
    except (WerkzeugBadRequest, OSError, ValueError):
        raise IncompleteBody from None
    if len(body) > max_bytes:
        raise BodyTooLarge(max_bytes)
    return body
