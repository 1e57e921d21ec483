"""Read the body of a WSGI request within the relay's bound."""

from typing import Any

from agent_feedback.relay import MAX_BODY_BYTES, bad_body, large_body

_MAX_DIGITS = 12


def read_input(environ: dict[str, Any]) -> bytes:
    """Return the body of a request, or raise `RelayError`; without a length the server must say that its input ends."""
    content_length = environ.get("CONTENT_LENGTH") or ""
    if not content_length and environ.get("wsgi.input_terminated"):
        length = MAX_BODY_BYTES + 1
    elif content_length.isascii() and content_length.isdigit():
        length = int(content_length[:_MAX_DIGITS])
    else:
        raise bad_body("The body is missing.")
    if length > MAX_BODY_BYTES and content_length:
        raise large_body()
    return _read_stream(environ["wsgi.input"], length, is_exact=bool(content_length))


def _read_stream(stream: Any, length: int, *, is_exact: bool) -> bytes:
    text = bytearray()
    try:
        while len(text) < length and (chunk := stream.read(length - len(text))):
            text += chunk
    except (OSError, ValueError):
        raise bad_body("The body cannot be read.") from None
    if len(text) > MAX_BODY_BYTES:
        raise large_body()
    if is_exact and len(text) < length:
        raise bad_body("The body is cut short.")
    return bytes(text)
