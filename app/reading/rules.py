"""Cursors: opaque texts that carry where the next page of a list begins.

A cursor names a place in a list and no tenant, which comes from the key alone. It is bound to its list, environment and
filters by a checksum, so that one of another list is refused instead of giving a page that means nothing.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence

CURSOR_PATTERN = "^[A-Za-z0-9_-]+$"
MAX_CURSOR_LENGTH = 1_000
CHECKSUM_CHARACTERS = 12

MAX_LIMIT = 200
DEFAULT_LIMIT = 50


class BadCursor(Exception):
    """The text is no cursor of this list with these filters."""


def write_cursor(scope: Sequence[object], place: Sequence[str]) -> str:
    """Return the cursor of a place; `scope` is everything that the next request has to repeat."""
    content = json.dumps([_checksum(scope), *place], separators=(",", ":"), ensure_ascii=False)
    return base64.urlsafe_b64encode(content.encode()).rstrip(b"=").decode()


def read_cursor(scope: Sequence[object], cursor: str) -> list[str]:
    """Return the place of a cursor, or raise `BadCursor`; any other text than `write_cursor` returns is refused."""
    try:
        content = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        is_list = isinstance(content, list) and all(isinstance(part, str) for part in content)
        place: list[str] = content[1:] if is_list else []
        if not place or write_cursor(scope, place) != cursor:
            raise BadCursor
    except (binascii.Error, ValueError, RecursionError):
        raise BadCursor from None
    return place


def _checksum(scope: Sequence[object]) -> str:
    return hashlib.sha256(repr([str(part) for part in scope]).encode()).hexdigest()[:CHECKSUM_CHARACTERS]
