"""The operations of an environment with their counts."""

import uuid
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from sqlalchemy import text

from app.core import clock
from app.core.database import session
from app.interactions.counts import COUNT_COLUMNS, PENDING_CHANGES
from app.products.sql import retention_days
from app.summaries.rules import Z_95, Sort, rate

DAY_COUNTS = f"(SELECT {COUNT_COLUMNS} FROM interaction_days UNION ALL {PENDING_CHANGES})"
"""The rows whose sums by environment, day, operation and surface are exact at every moment."""

# The lower bound of the Wilson score interval at 95 %, of failures and half of partial successes.
_WORST = f"""
    coalesce((share + {Z_95**2 / 2} / reviews
              - {Z_95} * sqrt((share * (1 - share) + {Z_95**2 / 4} / reviews) / reviews))
             / (1 + {Z_95**2} / reviews), 0)
"""
_SORT_VALUES = {
    Sort.INTERACTIONS: "interactions::double precision",
    Sort.WORST: _WORST,
    Sort.OPERATION: "0::double precision",
}

_STATEMENTS = {
    sort: text(f"""
        WITH counts AS (
            SELECT operation, sum(interactions)::bigint AS interactions, sum(confirmed)::bigint AS confirmed,
                   sum(success)::bigint AS success, sum(partial)::bigint AS partial, sum(failure)::bigint AS failure
            FROM {DAY_COUNTS} counted
            WHERE environment_id = :environment_id AND day_on <= :today
              AND day_on > CAST(:today AS date) - least(:days, {retention_days(":environment_id")})
              AND (CAST(:surface AS text) IS NULL OR surface = :surface) AND starts_with(operation, :prefix)
            GROUP BY operation HAVING sum(interactions) > 0 OR sum(success + partial + failure) > 0
        ), shares AS (
            SELECT *, nullif(success + partial + failure, 0)::double precision AS reviews,
                   (failure + partial / 2.0) / nullif(success + partial + failure, 0)::double precision AS share
            FROM counts
        ), sorted AS (
            SELECT {sort_value} AS sort_value, operation, interactions, confirmed, success, partial, failure FROM shares
        )
        SELECT * FROM sorted
        WHERE CAST(:sort_value AS double precision) IS NULL OR sort_value < CAST(:sort_value AS double precision)
           OR (sort_value = CAST(:sort_value AS double precision) AND operation > :operation)
        ORDER BY sort_value DESC, operation LIMIT :limit
    """)
    for sort, sort_value in _SORT_VALUES.items()
}


class OperationCriteria(NamedTuple):
    """Which operations to list, and in which order: of whole UTC days ending today."""

    days: int
    sort: Sort
    surface: str | None = None
    prefix: str = ""
    """What their names begin with."""


class OperationPosition(NamedTuple):
    """The operation that a page begins behind."""

    sort_value: float
    operation: str


@dataclass(frozen=True, slots=True)
class OperationItem:
    """The counts of an operation."""

    sort_value: float
    operation: str
    interactions: int
    confirmed: int
    success: int
    partial: int
    failure: int

    @property
    def reviews(self) -> int:
        """How many interactions have a review."""
        return self.success + self.partial + self.failure

    @property
    def coverage(self) -> float:
        """The share of interactions with a review."""
        return self.reviews / self.interactions if self.interactions else 0.0

    @property
    def success_rate(self) -> float | None:
        """The share of reviews that say success, where there are enough."""
        return rate(self.success, self.reviews)

    @property
    def failure_rate(self) -> float | None:
        """The share of reviews that say failure, where there are enough."""
        return rate(self.failure, self.reviews)


def list_operations(
    environment_id: uuid.UUID, criteria: OperationCriteria, limit: int, after: OperationPosition | None = None
) -> list[OperationItem]:
    """Return operations with their counts, the first ones or those behind a position."""
    values = {
        "environment_id": environment_id,
        "days": criteria.days,
        "today": clock.now().date(),
        "surface": criteria.surface,
        "prefix": criteria.prefix,
        "limit": limit,
        "sort_value": after.sort_value if after else None,
        "operation": after.operation if after else "",
    }
    return [OperationItem(*row) for row in session().execute(_STATEMENTS[criteria.sort], values)]


_COUNT_BEFORE = text(f"""
    SELECT coalesce(sum(interactions), 0)::bigint, coalesce(sum(success + partial + failure), 0)::bigint
    FROM {DAY_COUNTS} counted WHERE environment_id = :environment_id AND day_on < :day_on
""")


def count_before(environment_id: uuid.UUID, day_on: date) -> tuple[int, int]:
    """Return how many interactions arrived before a day, and how many of them have a review."""
    row = session().execute(_COUNT_BEFORE, {"environment_id": environment_id, "day_on": day_on}).one()
    return row[0], row[1]
