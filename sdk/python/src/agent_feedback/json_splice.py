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
        content: dict[str, Any] = _decode(body.decode("utf-8"))
        if _SURROGATE.search(body):
            # Half a surrogate pair is no text, and parsers differ over it.
            json.dumps(content, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return None
    return content.keys()


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


# Numbers stay text: Python refuses integers of more than 4,300 digits.
_decode = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse_constant).decode
_encode = json.JSONEncoder(separators=(",", ":")).encode


def splice(body: bytes, members: Mapping[str, Any]) -> bytes:
    """Return the text of an object with these as its last members; `member_names` must have accepted it."""
    json_object = body.rstrip(_WHITE_SPACE)
    head, tail = json_object[:-1], body[len(json_object) - 1 :]
    is_empty = head.strip(_WHITE_SPACE) == b"{"
    addition = _encode(members)[1:-1].encode()
    return head + (b"" if is_empty else b",") + addition + tail
