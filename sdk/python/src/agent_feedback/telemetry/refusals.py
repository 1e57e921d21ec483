"""What the service says when it refuses a batch: events of it, a quota, and how many events it has counted."""

import json
import re

from agent_feedback.errors import ServiceRefused
from agent_feedback.http.client import HttpResponse

_EVENT_POINTER = re.compile(r"/events/(0|[1-9][0-9]{0,5})(?:/|\Z)")
_COUNT = re.compile(r"[0-9]{1,9}\Z")
_QUOTA_NAME = re.compile(r"[a-z_]{1,40}\Z")


def exceeded_quota(response: HttpResponse) -> str | None:
    """Return the name of the quota for which a batch was refused, or None; no retry changes such an answer."""
    if response.status != 403:
        return None
    try:
        content = json.loads(response.body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.get("code") != "quota_exceeded":
        return None
    name = content.get("quota")
    return name if isinstance(name, str) and _QUOTA_NAME.match(name) else "unnamed"


def refused_indexes(response: HttpResponse, size: int) -> set[int]:
    """Return the indexes of the events that a 400 or 422 names by pointer.

    Empty where a problem is not about one event of the batch: the whole batch is refused then.
    """
    if response.status not in (400, 422):
        return set()
    try:
        errors = ServiceRefused(response.status, json.loads(response.body)).errors
    except (ValueError, RecursionError):
        return set()
    matches = [_EVENT_POINTER.match(str(entry.get("pointer"))) for entry in errors]
    indexes = {int(match[1]) for match in matches if match}
    return indexes if None not in matches and all(index < size for index in indexes) else set()


def counted_events(response: HttpResponse, limit: int) -> int:
    """Return how many refused events the service says that it has counted, at most `limit`; 0 where it says nothing."""
    text = response.refused or ""
    return min(int(text), limit) if _COUNT.match(text) else 0
