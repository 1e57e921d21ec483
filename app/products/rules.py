"""Settings of an environment and kinds of keys, with their bounds."""

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum


class Mode(StrEnum):
    """How feedback is asked for in an environment."""

    NEVER_ASK = "never_ask"
    ASK_ONCE = "ask_once"
    ASK_ALWAYS = "ask_always"
    OFF = "off"


class KeyKind(StrEnum):
    """What a key is for."""

    PRODUCT = "product"
    COMPANY = "company"
    READ = "read"


class KeyState(StrEnum):
    """What has become of a key."""

    ACTIVE = "active"
    EXPIRING = "expiring"
    """It is accepted, and expires within `EXPIRING_WITHIN`."""
    EXPIRED = "expired"
    REVOKED = "revoked"


EXPIRING_WITHIN = timedelta(days=14)
"""Time enough to replace a key before it stops working."""

RETENTION_DAYS = range(1, 366)
DEFAULT_RETENTION_DAYS = 90
MAX_OVERLAP_HOURS = 168

_DURATION = re.compile(r"([1-9][0-9]{0,5})([smhd])\Z")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def read_duration(text: str) -> timedelta | None:
    """Read `90s`, `15m`, `24h` or `30d`; None if it is none of these."""
    match = _DURATION.match(text)
    return timedelta(**{_UNITS[match[2]]: int(match[1])}) if match else None


def write_instant(instant: datetime | None) -> str | None:
    """Return an instant as the audit log has it, to the second; None if there is none."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if instant else None
