"""Putting the envelope into a JSON object without touching any other byte of it."""

import json
import re
from typing import Any

from agent_feedback.envelope import FIELD

_WHITE_SPACE = b" \t\r\n"
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def is_open_object(body: bytes) -> bool:
    """Tell whether a body is a JSON object that has no envelope yet."""
    if not body.lstrip(_WHITE_SPACE).startswith(b"{"):
        return False
    try:
        # Numbers stay text: they may be longer than Python likes to read.
        content = json.loads(body.decode("utf-8"), parse_int=str, parse_float=str, parse_constant=_refuse)
        if _SURROGATE.search(body):
            # Half a surrogate pair is no text, and readers differ over what to make of it.
            json.dumps(content, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return False
    return FIELD not in content


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def splice(body: bytes, envelope: dict[str, Any]) -> bytes | None:
    """Return the object with the envelope as its last member, or None if it cannot take one."""
    if not is_open_object(body):
        return None
    kept = body.rstrip(_WHITE_SPACE)
    head, tail = kept[:-1], body[len(kept) - 1 :]
    is_empty = head.strip(_WHITE_SPACE) == b"{"
    member = json.dumps({FIELD: envelope}, separators=(",", ":"))[1:-1].encode()
    return head + (b"" if is_empty else b",") + member + tail
