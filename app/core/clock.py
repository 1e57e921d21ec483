"""The one clock. Pure rules get the time as an argument; services ask here, so that a test can move it."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the current instant, in UTC."""
    return datetime.now(UTC)
