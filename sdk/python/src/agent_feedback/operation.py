"""The name of an operation: the path with its changing parts taken out."""

import re
from urllib.parse import quote

LONGEST = 160

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+\Z")
_SAFE = "/:.,;!$&'()*+=_~-%"


def normalize_operation(path: str) -> str:
    """Return a path without its query, with `:id` for every UUID and bare number in it."""
    segments = path.split("?", 1)[0].split("#", 1)[0].split("/")
    named = "/".join(":id" if _UUID.match(part) or _NUMBER.match(part) else part for part in segments)
    return quote(named, safe=_SAFE)[:LONGEST] or "/"
