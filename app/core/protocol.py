"""The protocol files, which the service and every SDK read: the only copy of agent-facing texts and bounds."""

import json
from pathlib import Path
from typing import Any

SDK = Path(__file__).resolve().parents[2] / "sdk"
FOLDER = SDK / "protocol"


def read(name: str) -> dict[str, Any]:
    """Return one protocol file."""
    content: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return content


def read_text(name: str) -> str:
    """Return the text of one protocol file."""
    return (FOLDER / name).read_text(encoding="utf-8")
