"""Count waiting rows, in a time that does not grow with their number."""

from typing import Any, NamedTuple

from sqlalchemy import text

from app.core import clock
from app.core.database import session

MAX_COUNTED_ROWS = 100_000
"""More rows are not looked at: what matters then is that there are so many."""


class WaitingRows(NamedTuple):
    """How many rows wait, and for how long the oldest of them has."""

    number: int
    oldest_age_s: float


def find_waiting_rows(
    table: str, instant: str = "NULL::timestamptz", condition: str = "true", **parameters: Any
) -> WaitingRows:
    """Return how many rows of a table or join meet a condition, and the age of the oldest instant.

    Needs a transaction. `parameters` are those of the condition.
    """
    rows = f"SELECT {instant} AS instant FROM {table} WHERE {condition} LIMIT {MAX_COUNTED_ROWS}"
    statement = text(f"SELECT count(*), min(instant) FROM ({rows}) AS counted_rows")
    count, oldest = session().execute(statement, parameters).one()
    return WaitingRows(count, max(0.0, (clock.now() - oldest).total_seconds()) if oldest else 0.0)
