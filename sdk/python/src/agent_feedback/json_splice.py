"""Insert members into the text of a JSON object without changing any other byte of it."""

import json
import re
from collections.abc import Container, Mapping
from typing import Any

_WHITE_SPACE = b" \t\r\n"
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def member_names(body: bytes) -> Container[str] | None:
    """Return the member names of a JSON object; None for anything else, or JSON that parsers differ over."""
    if not body.lstrip(_WHITE_SPACE).startswith(b"{"):
        return None
    try:
        # Numbers stay text: Python refuses integers of more than 4,300 digits.
        content: dict[str, Any] = json.loads(
            body.decode("utf-8"), parse_int=str, parse_float=str, parse_constant=_refuse_constant
        )
        if _SURROGATE.search(body):
            # Half a surrogate pair is no text, and parsers differ over it.
            json.dumps(content, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return None
    return content.keys()


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def splice(body: bytes, members: Mapping[str, Any]) -> bytes:
    """Return the text of an object with these as its last members; `member_names` must have accepted it."""
    json_object = body.rstrip(_WHITE_SPACE)
    head, tail = json_object[:-1], body[len(json_object) - 1 :]
    is_empty = head.strip(_WHITE_SPACE) == b"{"
    addition = json.dumps(members, separators=(",", ":"))[1:-1].encode()
    return head + (b"" if is_empty else b",") + addition + tail
