"""Recount the interactions of marked days.

A day that has a mark is counted anew from its rows; a day without one is as it was counted last. The marks are removed
in the same transaction as the count, so a mark that was written meanwhile stays for the next run.
"""

from sqlalchemy import text

from app.core.database import session, transaction
from app.interactions.sql import CLAIM_MARKED_DAY

_CLAIM_DAY = text(CLAIM_MARKED_DAY)

# One roll-up at a time: two that count the same day would wait for each other on every row of it.
_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtext('summaries.roll_up'))")

_DELETE_COUNTS = text("DELETE FROM interaction_days WHERE environment_id = :environment_id AND day_on = :day_on")

_COUNT = text("""
    INSERT INTO interaction_days
        (environment_id, day_on, operation, surface, interactions, confirmed, success, partial, failure)
    SELECT i.environment_id, CAST(:day_on AS date), i.operation, i.surface, count(*),
           count(*) FILTER (WHERE i.classification = 'confirmed'), count(*) FILTER (WHERE r.outcome = 'success'),
           count(*) FILTER (WHERE r.outcome = 'partial'), count(*) FILTER (WHERE r.outcome = 'failure')
    FROM interactions i
    LEFT JOIN reviews r ON r.environment_id = i.environment_id AND r.interaction_id = i.id
    WHERE i.environment_id = :environment_id
      AND i.received_at >= CAST(:day_on AS date)::timestamp AT TIME ZONE 'UTC'
      AND i.received_at < (CAST(:day_on AS date) + 1)::timestamp AT TIME ZONE 'UTC'
    GROUP BY i.environment_id, i.operation, i.surface
""")


def roll_up_marked_days() -> int:
    """Count every marked day anew and return the number of days."""
    total = 0
    while True:
        with transaction():
            if not session().execute(_LOCK).scalar_one():
                return total
            day = session().execute(_CLAIM_DAY).mappings().one_or_none()
            if day is None:
                return total
            session().execute(_DELETE_COUNTS, dict(day))
            session().execute(_COUNT, dict(day))
        total += 1
