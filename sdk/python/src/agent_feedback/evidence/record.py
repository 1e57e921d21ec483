"""Records of requests, and the notations of time in logs."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

YEAR_10000_S = 253_402_300_800.0
"""The year 10000, which ISO 8601 cannot write."""

MAX_SECONDS = 1e11
"""A larger number is in milliseconds, microseconds or nanoseconds."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_COMMON = re.compile(r"(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-]\d{4})\Z", re.ASCII)
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))? ?(Z|[+-]\d\d:?\d\d)\Z", re.ASCII)
_NUMBER = re.compile(r"\d{1,19}(?:\.\d{1,9})?\Z", re.ASCII)


class Malformed(ValueError):
    """A line that its format does not allow; the message never holds any of it."""


class Record(NamedTuple):
    """One request of a log; a missing text is empty."""

    observed_at: float
    """Seconds since 1970."""
    method: str
    status: int
    user_agent: str = ""
    referrer: str = ""
    address: str = ""
    fields: Mapping[str, Any] = {}
    """The whole line, in formats with named fields."""


def parse_time(value: object) -> float:
    """Return a time in seconds since 1970, given as a number, ISO 8601, or the common log format's text."""
    try:
        if isinstance(value, str):
            seconds = _from_text(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            seconds = _from_number(float(value))
        else:
            raise Malformed("time")
    except (ValueError, OverflowError):
        raise Malformed("time") from None
    if not 0 <= seconds < YEAR_10000_S:
        raise Malformed("time")
    return seconds


def parse_status(value: object) -> int:
    """Return a response status from 100 to 599, or raise `Malformed`."""
    if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdigit():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 100 <= value <= 599:
        raise Malformed("status")
    return value


def _from_number(seconds: float) -> float:
    while MAX_SECONDS < seconds < MAX_SECONDS**2:
        seconds /= 1000
    return seconds


def _from_text(text: str) -> float:
    if match := _COMMON.match(text):
        month = _MONTHS.index(match[2]) + 1
        return _instant((match[3], month, *match.group(1, 4, 5, 6)), match[7])
    if match := _ISO.match(text):
        fraction = match[7] or ""
        seconds = _instant(match.group(1, 2, 3, 4, 5, 6), match[8])
        return seconds + (float(f"0.{fraction}") if fraction else 0)
    if _NUMBER.match(text):
        return _from_number(float(text))
    raise Malformed("time")


def _instant(parts: Iterable[str | int], offset: str) -> float:
    year, month, day, hour, minute, second = map(int, parts)
    # Python has no leap seconds.
    local_time = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=timezone.utc)
    return (local_time - _offset(offset)).timestamp()


def _offset(text: str) -> timedelta:
    if text == "Z":
        return timedelta()
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return -offset if text[0] == "-" else offset
