"""Where a page may send somebody, and what it calls things."""

import re

from app.products.rules import Mode

HOME = "/"

MODES = {
    Mode.NEVER_ASK: "never_ask: nobody is asked",
    Mode.ASK_ONCE: "ask_once: each customer once",
    Mode.ASK_ALWAYS: "ask_always: at each use",
    Mode.OFF: "off: no feedback is taken",
}

# Browsers read a backslash as a slash and leave out tabs and line breaks: what begins with two slashes, however they
# are written, is another host.
_LOCAL_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]{0,1999}\Z")


def local_path(text: str) -> str:
    """Return a path of this service, or the home page where the text is anything else."""
    return text if _LOCAL_PATH.match(text) else HOME
