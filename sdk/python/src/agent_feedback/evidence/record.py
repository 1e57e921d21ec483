"""One request as a log tells it, and the ways in which logs write time."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

END_OF_TIME_S = 253_402_300_800.0
"""The year 10000, which ISO 8601 cannot write."""

LARGEST_SECONDS = 1e11
"""A larger number counts milliseconds, microseconds or nanoseconds."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_COMMON = re.compile(r"(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-]\d{4})\Z", re.ASCII)
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))? ?(Z|[+-]\d\d:?\d\d)\Z", re.ASCII)
_NUMBER = re.compile(r"\d{1,19}(?:\.\d{1,9})?\Z", re.ASCII)


class Malformed(ValueError):
    """A line that is not what its format says; the message never holds any of it."""


class Record(NamedTuple):
    """One request; what is missing is empty."""

    observed_at: float
    """Seconds since 1970."""
    method: str
    status: int
    user_agent: str = ""
    referrer: str = ""
    address: str = ""
    fields: Mapping[str, Any] = {}
    """The whole line, where it has named fields."""


def moment(value: object) -> float:
    """Return a time in seconds since 1970, from a number or any of the usual forms of text."""
    try:
        if isinstance(value, str):
            seconds = _from_text(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            seconds = _from_number(float(value))
        else:
            raise Malformed("time")
    except (ValueError, OverflowError):
        raise Malformed("time") from None
    if not 0 <= seconds < END_OF_TIME_S:
        raise Malformed("time")
    return seconds


def status(value: object) -> int:
    """Return a response status that the service takes."""
    if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdigit():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 100 <= value <= 599:
        raise Malformed("status")
    return value


def _from_number(seconds: float) -> float:
    while LARGEST_SECONDS < seconds < LARGEST_SECONDS**2:
        seconds /= 1000
    return seconds


def _from_text(text: str) -> float:
    if found := _COMMON.match(text):
        month = _MONTHS.index(found[2]) + 1
        return _instant((found[3], month, *found.group(1, 4, 5, 6)), found[7])
    if found := _ISO.match(text):
        fraction = found[7] or ""
        whole = _instant(found.group(1, 2, 3, 4, 5, 6), found[8])
        return whole + (float(f"0.{fraction}") if fraction else 0)
    if _NUMBER.match(text):
        return _from_number(float(text))
    raise Malformed("time")


def _instant(parts: Iterable[str | int], offset: str) -> float:
    year, month, day, hour, minute, second = map(int, parts)
    # A leap second has no number of its own.
    whole = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=timezone.utc)
    return (whole - _offset(offset)).timestamp()


def _offset(text: str) -> timedelta:
    if text == "Z":
        return timedelta()
    ahead = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return -ahead if text[0] == "-" else ahead
