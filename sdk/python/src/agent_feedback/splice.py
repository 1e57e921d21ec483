"""Putting members into a JSON object without touching any other byte of it."""

import json
import re
from collections.abc import Container, Mapping
from typing import Any

_WHITE_SPACE = b" \t\r\n"
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read_names(body: bytes) -> Container[str] | None:
    """Return the names of a JSON object's members, or None if it is no object that everybody reads alike."""
    if not body.lstrip(_WHITE_SPACE).startswith(b"{"):
        return None
    try:
        # Numbers stay text: they may be longer than Python likes to read.
        content: dict[str, Any] = json.loads(
            body.decode("utf-8"), parse_int=str, parse_float=str, parse_constant=_refuse
        )
        if _SURROGATE.search(body):
            # Half a surrogate pair is no text, and readers differ over what to make of it.
            json.dumps(content, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return None
    return content.keys()


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def splice(body: bytes, members: Mapping[str, Any]) -> bytes:
    """Return an object, whose names were read, with these as its last members."""
    kept = body.rstrip(_WHITE_SPACE)
    head, tail = kept[:-1], body[len(kept) - 1 :]
    is_empty = head.strip(_WHITE_SPACE) == b"{"
    added = json.dumps(members, separators=(",", ":"))[1:-1].encode()
    return head + (b"" if is_empty else b",") + added + tail
