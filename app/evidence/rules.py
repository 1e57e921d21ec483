"""Bounds of evidence, the digests of its ids, and the days of a summary."""

import hmac
import ipaddress
import re
from datetime import date, datetime, timedelta
from typing import NamedTuple

SCHEMA_VERSION = 1
SOURCE_KINDS = ("cdn_log", "edge_worker", "load_balancer_log", "server_log", "application")
METHODS = ("GET", "HEAD")
MAX_EVENTS = 500
MAX_CLOCK_LEAD = timedelta(minutes=5)
"""Clocks differ; what claims to come from later than this is a mistake."""

PROVIDER_PATTERN = "^[a-z0-9][a-z0-9_.-]{0,63}$"
ID_PATTERN = "^[A-Za-z0-9_.:-]{8,128}$"
MIN_ID_LENGTH, MAX_ID_LENGTH = 8, 128

CLAIMED = "claimed"
"""The source named the agent; anybody can pretend to be one."""
SOURCE_ATTESTED = "source_attested"
"""The source also says how it recognised the agent; nobody else has checked that."""

WINDOW_DAYS = range(1, 366)
DEFAULT_WINDOW_DAYS = 30

# An IPv4 address in any spelling, with or without a port; the standard library knows only the proper ones.
_DOTTED = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}(:[0-9]{1,5})?\Z")


class Window(NamedTuple):
    """The days of a summary, both ends included."""

    days: int
    first_on: date
    last_on: date


def is_address(text: str) -> bool:
    """Tell whether an id is an IP address."""
    if _DOTTED.match(text):
        return True
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def source_digest(key: bytes, kind: str, provider: str, source_id: str) -> bytes:
    """Return the digest that replaces a source; none of its parts can hold the character between them."""
    return hmac.digest(key, f"source\0{kind}\0{provider}\0{source_id}".encode(), "sha256")


def source_hmac_of(key: bytes, source: bytes) -> hmac.HMAC:
    """Return the common beginning of the digests of all events of a source, which halves the time of each."""
    return hmac.new(key, source, "sha256")


def event_digest(source_hmac: hmac.HMAC, event_id: str) -> bytes:
    """Return the digest that replaces the id of one event of a source."""
    digest = source_hmac.copy()
    digest.update(event_id.encode())
    return digest.digest()


def window(now: datetime, requested_days: int, retention_days: int) -> Window:
    """Return the days of a summary: whole UTC days ending today, each of which is kept from its beginning on."""
    days, today = min(requested_days, retention_days), now.date()
    return Window(days, today - timedelta(days=days - 1), today)
