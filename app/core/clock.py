"""The clock of the service. Rules get the time as an argument; services read it here, so that a test can set it."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the current instant, in UTC."""
    return datetime.now(UTC)
