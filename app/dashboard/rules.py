"""Rules of pages: safe redirects, and the labels of modes."""

import re

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
