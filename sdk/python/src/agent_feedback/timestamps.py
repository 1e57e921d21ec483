"""Instants as ISO 8601 in UTC."""

import time
from functools import lru_cache


def timestamp(seconds: float) -> str:
    """Return an instant, given in seconds since 1970, with milliseconds."""
    return f"{_format_second(int(seconds // 1))}.{int(seconds % 1 * 1000):03d}Z"


def whole_timestamp(seconds: int) -> str:
    """Return an instant, given in whole seconds since 1970."""
    return f"{_format_second(seconds)}Z"


# The responses of one second share their instants: that of the interaction, and that at which its envelope expires.
@lru_cache(maxsize=16)
def _format_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
