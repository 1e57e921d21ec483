"""Operations: the path of a request with its changing parts replaced."""

import re
from typing import Any
from urllib.parse import quote, unquote

MAX_OPERATION_LENGTH = 160

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+\Z")
# The service refuses these in an operation, percent-encoded ones too.
_REFUSED = re.compile(r"[\s?#@\x00-\x1f\x7f-\x9f]")
_SAFE_CHARACTERS = "/:.,;!$&'()*+=_~-%"
_ID = ":id"


def normalize_operation(path: str) -> str:
    """Return the operation of a path: no query, `:id` for UUIDs, numbers and what the service refuses, 160 characters.

    A segment with white space or an at sign may be an e-mail address or a name, so it counts as an id.
    """
    segments = path.split("?", 1)[0].split("#", 1)[0].split("/")
    operation = "/".join(_ID if _is_id(segment) else segment for segment in segments)
    return quote(operation, safe=_SAFE_CHARACTERS)[:MAX_OPERATION_LENGTH] or "/"


def normalize_named_operation(operation: Any) -> str | None:
    """Return an operation that a company's code has named, normalized, or None where the service would refuse it."""
    if not isinstance(operation, str) or not operation.isprintable():
        return None
    text = operation.split("?", 1)[0].split("#", 1)[0]
    segments = [_ID if _UUID.match(segment) or _NUMBER.match(segment) else segment for segment in text.split("/")]
    operation_name = "/".join(segments)[:MAX_OPERATION_LENGTH]
    return None if not operation_name or _is_refused(operation_name) else operation_name


def _is_id(segment: str) -> bool:
    return bool(_UUID.match(segment) or _NUMBER.match(segment)) or _is_refused(segment)


def _is_refused(text: str) -> bool:
    return bool(_REFUSED.search(text) or _REFUSED.search(unquote(text)))
