"""Which operations are worst, and from how many reviews on a rate says something."""

from enum import StrEnum

MAX_DAYS = 365
DEFAULT_DAYS = 30

MIN_REVIEWS = 10
"""A rate of fewer reviews says nothing, and is not shown."""


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
    return count / review_count if review_count >= MIN_REVIEWS else None
