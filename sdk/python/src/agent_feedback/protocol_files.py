"""Read the protocol files packed with this library: the only copy of agent-facing texts and bounds."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "protocol"


@cache
def read(name: str) -> dict[str, Any]:
    """Return the content of one protocol file; callers must not change it."""
    content: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return content
