"""Read the body of an ASGI request within the relay's bound."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

from agent_feedback.relay import MAX_BODY_BYTES, bad_body, large_body
from agent_feedback.request import Request

_MAX_DIGITS = 12


async def read_input(
    request: Request, receive: Callable[[], Awaitable[dict[str, Any]]], timeout_s: float
) -> bytes | None:
    """Return the body of a request, None if the client has left, or raise `RelayError`."""
    import asyncio  # noqa: PLC0415  # an ASGI server has it; 40 ms of the start of everything else

    content_length = request.header("content-length") or ""
    if content_length.isdigit() and int(content_length[:_MAX_DIGITS]) > MAX_BODY_BYTES:
        raise large_body()
    text, is_complete, end_at = bytearray(), False, time.monotonic() + timeout_s
    while not is_complete:
        try:
            message = await asyncio.wait_for(receive(), max(end_at - time.monotonic(), 0))
        except asyncio.TimeoutError:  # another class in Python 3.10
            raise bad_body("The body does not arrive.") from None
        if message["type"] != "http.request":
            return None
        text += message.get("body", b"")
        is_complete = not message.get("more_body", False)
        if len(text) > MAX_BODY_BYTES:
            raise large_body()
    return bytes(text)
