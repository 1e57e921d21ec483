"""Limits that a test sets."""

from tests.limits.conftest import digest_key, make_counters, set_limits, timer

__all__ = ["digest_key", "make_counters", "set_limits", "timer"]
