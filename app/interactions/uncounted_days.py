"""Days that an earlier release counted, or changed while this one was already running; to be removed with the next.

The earlier release marks a day whose rows it has changed and records no changes in counts. Migration 0033 gives its
marks to this release: `day_marks` is a view through which they arrive in `uncounted_days`, and in which the earlier
release finds none to count. So each day is counted anew here, once more after the last mark, whoever runs beside it.
"""

import uuid
from datetime import date, datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session, transaction
from app.interactions.counts import count_rows
from app.interactions.service import lock_interactions

BATCH_SIZE = 20_000
"""Interactions in one transaction: some hundred milliseconds."""
MAX_DAYS = 1_000
"""Days in one run; those that are marked meanwhile wait for the next."""

_DAY_RANGE = """
    environment_id = :environment_id
    AND received_at >= CAST(:day_on AS date)::timestamp AT TIME ZONE 'UTC'
    AND received_at < (CAST(:day_on AS date) + 1)::timestamp AT TIME ZONE 'UTC'
"""

_LIST_DAYS = text("SELECT environment_id, day_on FROM uncounted_days GROUP BY 1, 2 ORDER BY min(id) LIMIT :limit")

_LAST_OF_BATCH = text(f"""
    SELECT max(received_at) FROM (
        SELECT received_at FROM interactions
        WHERE {_DAY_RANGE} AND (CAST(:after AS timestamptz) IS NULL OR received_at > :after)
        ORDER BY received_at LIMIT :batch_size) batch
""")

# Whoever counts the day after this batch does not see it, or removes its mark: so a count always follows.
_SET_OUTCOMES = text(f"""
    WITH changed AS (
        UPDATE interactions i SET outcome = r.outcome FROM reviews r
        WHERE i.outcome IS NULL AND r.environment_id = i.environment_id AND r.interaction_id = i.id
          AND i.{_DAY_RANGE.strip()} AND (CAST(:after AS timestamptz) IS NULL OR received_at > :after)
          AND received_at <= :last
        RETURNING 1
    )
    INSERT INTO uncounted_days (environment_id, day_on)
    SELECT CAST(:environment_id AS uuid), CAST(:day_on AS date) WHERE EXISTS (SELECT FROM changed)
""")

DISCARD_DAY = """
    WITH marks AS (
        DELETE FROM uncounted_days WHERE environment_id = :environment_id AND day_on = :day_on
    ), changes AS (
        DELETE FROM interaction_changes WHERE environment_id = :environment_id AND day_on = :day_on
    )
"""
"""Removes the marks and changes of a day in the statement that counts it by `COUNT_DAY`: they see the same moment."""

COUNT_DAY = count_rows(f"interactions WHERE {_DAY_RANGE}")


class UncountedDay(NamedTuple):
    """A day of an environment, in UTC."""

    environment_id: uuid.UUID
    day_on: date


def list_uncounted_days() -> list[UncountedDay]:
    """Return the days that have waited longest."""
    with transaction():
        return [UncountedDay(*row) for row in session().execute(_LIST_DAYS, {"limit": MAX_DAYS})]


def set_outcomes(day: UncountedDay) -> None:
    """Set the outcomes that the earlier release did not, in batches, each of which marks the day: a count follows."""
    after: datetime | None = None
    while True:
        values = {**day._asdict(), "after": after, "batch_size": BATCH_SIZE}
        with transaction():
            lock_interactions()
            last = session().execute(_LAST_OF_BATCH, values).scalar_one()
            if last is None:
                return
            session().execute(_SET_OUTCOMES, {**values, "last": last})
        after = last
