"""Which operations are worst, and from how many reviews on a rate says something."""

from enum import StrEnum

MAX_DAYS = 365
DEFAULT_DAYS = 30

MIN_OBSERVATIONS = 10
"""A share of fewer observations says nothing, and is not shown."""

Z_95 = 1.959964
"""The quantile of the normal distribution for an interval at 95 %."""


class Sort(StrEnum):
    """The order of operations."""

    INTERACTIONS = "interactions"
    """The most used first."""
    WORST = "worst"
    """Those that most certainly fail first."""
    OPERATION = "operation"
    """By name."""


def rate(count: int, review_count: int) -> float | None:
    """Return a share of reviews, or None where there are too few."""
    return count / review_count if review_count >= MIN_OBSERVATIONS else None
