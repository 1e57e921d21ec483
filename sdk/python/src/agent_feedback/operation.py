"""Operations: the path of a request with its changing parts replaced."""

import re
from typing import Any
from urllib.parse import quote, unquote

MAX_OPERATION_LENGTH = 160

# A whole segment that is a number or a UUID.
_ID_SEGMENT = re.compile(
    r"(?<![^/])(?:[0-9]+|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?![^/])", re.IGNORECASE | re.ASCII
)
# Has no query, and nothing that could be refused or needs quoting.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/:.,;!$&'()*+=_~-]*\Z")
# The service refuses these in an operation, percent-encoded ones too.
_REFUSED = re.compile(r"[\s?#@\x00-\x1f\x7f-\x9f]")
_SAFE_CHARACTERS = "/:.,;!$&'()*+=_~-%"
_ID = ":id"


def normalize_operation(path: str) -> str:
    """Return the operation of a path: no query, `:id` for UUIDs, numbers and what the service refuses, 160 characters.

    A segment with white space or an at sign may be an e-mail address or a name, so it counts as an id.
    """
    if _PLAIN_PATH.match(path):  # nearly every path; the rest takes five times as long
        operation = _ID_SEGMENT.sub(_ID, path)
    else:
        segments = _without_query(path).split("/")
        text = "/".join(_ID if _is_refused(segment) else segment for segment in segments)
        operation = quote(_ID_SEGMENT.sub(_ID, text), safe=_SAFE_CHARACTERS)
    return operation[:MAX_OPERATION_LENGTH] or "/"


def normalize_named_operation(operation: Any) -> str | None:
    """Return an operation that a company's code has named, normalized, or None where the service would refuse it."""
    if not isinstance(operation, str) or not operation.isprintable():
        return None
    operation_name = _ID_SEGMENT.sub(_ID, _without_query(operation))[:MAX_OPERATION_LENGTH]
    return None if not operation_name or _is_refused(operation_name) else operation_name


def _without_query(text: str) -> str:
    return text.split("?", 1)[0].split("#", 1)[0]


def _is_refused(text: str) -> bool:
    return bool(_REFUSED.search(text) or _REFUSED.search(unquote(text)))
