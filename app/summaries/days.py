"""The counts of an environment by days: of all operations, of one, or of some."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from datetime import date
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.summaries.queries import DAY_COUNTS


class DayRange(NamedTuple):
    """Days, both ends included."""

    first_on: date
    last_on: date


@dataclass(frozen=True, slots=True)
class Counts:
    """How many interactions there were, and the outcomes of their reviews."""

    interactions: int = 0
    confirmed: int = 0
    success: int = 0
    partial: int = 0
    failure: int = 0

    @property
    def reviews(self) -> int:
        """How many interactions have a review."""
        return self.success + self.partial + self.failure


class DayCounts(NamedTuple):
    """The counts of a day and a surface."""

    day_on: date
    surface: str
    counts: Counts


def add_counts(rows: Iterable[Counts]) -> Counts:
    """Return the sums."""
    return Counts(*map(sum, zip(*map(astuple, rows), strict=True)))


_LIST_DAYS = text(f"""
    SELECT day_on, surface, sum(interactions)::bigint, sum(confirmed)::bigint, sum(success)::bigint,
           sum(partial)::bigint, sum(failure)::bigint
    FROM {DAY_COUNTS} counted
    WHERE environment_id = :environment_id AND day_on BETWEEN :first_on AND :last_on
      AND (CAST(:operation AS text) IS NULL OR operation = :operation)
    GROUP BY day_on, surface HAVING sum(interactions) <> 0 ORDER BY day_on, surface
""")


def list_days(environment_id: uuid.UUID, days: DayRange, operation: str | None = None) -> list[DayCounts]:
    """Return the counts of days by surface, oldest first, of one operation or of all; a day without any is left out."""
    values = {"environment_id": environment_id, **days._asdict(), "operation": operation}
    return [DayCounts(day_on, surface, Counts(*row)) for day_on, surface, *row in session().execute(_LIST_DAYS, values)]


class OperationDay(NamedTuple):
    """What an operation had on a day."""

    operation: str
    day_on: date
    interactions: int
    failure: int


_LIST_OPERATION_DAYS = text(f"""
    SELECT operation, day_on, sum(interactions)::bigint, sum(failure)::bigint
    FROM {DAY_COUNTS} counted
    WHERE environment_id = :environment_id AND day_on BETWEEN :first_on AND :last_on
      AND operation = ANY(CAST(:operations AS text[])) AND (CAST(:surface AS text) IS NULL OR surface = :surface)
    GROUP BY operation, day_on HAVING sum(interactions) <> 0 ORDER BY operation, day_on
""")


def list_operation_days(
    environment_id: uuid.UUID, days: DayRange, operations: Sequence[str], surface: str | None = None
) -> list[OperationDay]:
    """Return the days of some operations, oldest first; a day without any interaction is left out."""
    values = {"environment_id": environment_id, **days._asdict(), "operations": list(operations), "surface": surface}
    return [OperationDay(*row) for row in session().execute(_LIST_OPERATION_DAYS, values)]
