"""Compute the version of a context."""

import hashlib
import uuid
from collections.abc import Iterable

from app.tokens.capability import encode

MAX_ITEMS = 100


def context_version(purpose: str, signal_ids: Iterable[uuid.UUID]) -> str:
    """Return a digest that stays the same while the same signals are retrieved for a purpose."""
    lines = "\n".join([purpose, *sorted(map(str, signal_ids))])
    return f"ctx1_{encode(hashlib.sha256(lines.encode()).digest())}"
