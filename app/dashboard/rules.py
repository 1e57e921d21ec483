"""Rules of pages: safe redirects, the labels of modes, and changes as the audit log has them."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from app.products.rules import Mode

HOME = "/"

MODE_LABELS = {
    Mode.NEVER_ASK: "never_ask: nobody is asked",
    Mode.ASK_ONCE: "ask_once: each customer once",
    Mode.ASK_ALWAYS: "ask_always: at each use",
    Mode.OFF: "off: no feedback is taken",
}

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
    """Return the values of an audit entry with what they were before.

    `previous` holds the values before by name, or the one value of an entry with one.
    """
    previous = details.get("previous")
    after = {name: value for name, value in details.items() if name != "previous" and value is not None}
    if isinstance(previous, Mapping):
        return [Change(name, previous.get(name), value) for name, value in after.items()]
    return [Change(name, previous if len(after) == 1 else None, value) for name, value in after.items()]
