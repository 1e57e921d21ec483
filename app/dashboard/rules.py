"""Rules of pages: safe redirects, the labels of modes, and changes as the audit log has them."""

import contextlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from app.products.rules import Mode

HOME = "/"

MODE_LABELS = {
    Mode.NEVER_ASK: "never_ask: nobody is asked",
    Mode.ASK_ONCE: "ask_once: each customer once",
    Mode.ASK_ALWAYS: "ask_always: at each use",
    Mode.OFF: "off: no feedback is taken",
}

NO_VALUE = {"assignee": "nobody", "expires_at": "never", "replaced_key_expires_at": "never"}
"""The words of the audit log for a value that is not set, by its name; `none` of others."""

# Browsers read a backslash as a slash and drop tabs and line breaks; a path that then begins with two slashes names
# another host.
_LOCAL_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]{0,1999}\Z")


def local_path(text: str) -> str:
    """Return the text if it is a path of this service, else the path of the home page."""
    return text if _LOCAL_PATH.match(text) else HOME


class Change(NamedTuple):
    """A value of an audit entry, and what it was before; None where the entry does not say."""

    name: str
    before: Any
    after: Any


def list_changes(details: Mapping[str, Any]) -> list[Change]:
    """Return the values of an audit entry with what they were before, except those that have stayed the same."""
    before, after = _sides(details)
    names = dict.fromkeys((*after, *before))
    return [
        Change(name, _words(name, before[name]) if name in before else None, _words(name, after.get(name)))
        for name in names
        if after.get(name) != before.get(name)
    ]


def _sides(details: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the values of an entry before and after, by name.

    Entries have `previous` beside the values, which holds values by name or is that of the only one; or they have
    `before`, `after` or both.
    """
    after = {name: value for name, value in details.items() if name not in ("previous", "before", "after")}
    if isinstance(details.get("before"), Mapping) or isinstance(details.get("after"), Mapping):
        return details.get("before") or {}, {**after, **(details.get("after") or {})}
    previous = details.get("previous")
    if isinstance(previous, Mapping):
        return previous, after
    return dict.fromkeys(after, previous) if previous is not None and len(after) == 1 else {}, after


def _instant(text: str) -> datetime | str:
    with contextlib.suppress(ValueError):
        return datetime.fromisoformat(text).astimezone(UTC)
    return text


def _words(name: str, value: Any) -> Any:
    """Return a value as it is shown: a number or a text as it is, an instant as such, anything else in words."""
    if value is None or value in ([], {}):
        return NO_VALUE.get(name, "none")
    if name.endswith("expires_at") and isinstance(value, str):
        return _instant(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_words(key, member)}" for key, member in value.items())
    if isinstance(value, list):
        return ", ".join(str(_words(name, member)) for member in value)
    return value
