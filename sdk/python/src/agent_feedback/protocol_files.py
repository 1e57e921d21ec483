"""Read the protocol files packed with this library: the only copy of agent-facing texts and bounds."""

import json
import os
from functools import cache
from typing import Any

FOLDER = os.path.join(os.path.dirname(__file__), "protocol")


@cache
def read(name: str) -> dict[str, Any]:
    """Return the content of one protocol file; callers must not change it."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        content: dict[str, Any] = json.load(file)
    return content
