"""Insert members into the text of a JSON object without changing any other byte of it."""

import json
import re
from collections.abc import Mapping
from typing import Any

_WHITE_SPACE = b" \t\r\n"
INVALID = object()
"""Stands for a body that is no JSON value."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read_value(body: bytes) -> Any:
    """Return a JSON value whose numbers are text; `INVALID` for other texts, and JSON that parsers differ over."""
    try:
        text = body.strip(_WHITE_SPACE).decode("utf-8")
        content, end = _decode(text)
        if end != len(text):
            return INVALID
        if b"\\" in body and _SURROGATE.search(body):  # most bodies have no escape at all
            # Half a surrogate pair is no text, and parsers differ over it.
            json.dumps(content, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return INVALID
    return content


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


# Numbers stay text: Python refuses integers of more than 4,300 digits.
_decode = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse_constant).raw_decode


def splice(body: bytes, members: Mapping[str, str]) -> bytes:
    """Return the text of an object with these as its last members, whose values are JSON.

    `read_value` must have accepted the object.
    """
    json_object = body.rstrip(_WHITE_SPACE)
    head, tail = json_object[:-1], body[len(json_object) - 1 :]
    is_empty = head.strip(_WHITE_SPACE) == b"{"
    addition = ",".join(f'"{name}":{value}' for name, value in members.items()).encode()
    return head + (b"" if is_empty else b",") + addition + tail
