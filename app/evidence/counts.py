"""Counts by day that are exact at every moment.

Whatever adds or removes events records the change in the same statement. The roll-up moves the changes into the day
counts, in one transaction; so a reader who adds both up in one statement counts each event once, whoever is at work.
Nothing is ever counted anew, so a late event costs what an early one costs.
"""

import uuid

from sqlalchemy import text

from app.core.database import session, transaction
from app.core.database.deletion import first_rows

BATCH_SIZE = 5_000
"""Changes in one transaction: some fifty milliseconds."""

DIMENSIONS = "source_kind, source_provider, actor_provider, fetch_class, network_method, referral_provider"
"""The columns by which events are counted."""


def record_changes(rows: str, sign: str = "") -> str:
    """Return the statement that records how many events `rows` adds to each count, or with the sign `-` removes."""
    return f"""
        INSERT INTO evidence_changes (environment_id, day_on, {DIMENSIONS}, events)
        SELECT environment_id, (observed_at AT TIME ZONE 'UTC')::date, source_kind, source_provider,
               coalesce(actor_provider, ''), coalesce(fetch_class, ''), coalesce(network_method, ''),
               coalesce(referral_provider, ''), {sign}count(*)
        FROM {rows} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    """


# One roll-up at a time: two that add to the same count would wait for each other.
_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtext('evidence.roll_up'))")

_MOVE = text(f"""
    WITH claimed AS (
        DELETE FROM evidence_changes WHERE {first_rows("evidence_changes")}
        RETURNING environment_id, day_on, {DIMENSIONS}, events
    ), moved AS (
        INSERT INTO evidence_days AS d (environment_id, day_on, {DIMENSIONS}, events)
        SELECT environment_id, day_on, {DIMENSIONS}, sum(events) FROM claimed
        GROUP BY environment_id, day_on, {DIMENSIONS}
        ON CONFLICT (environment_id, day_on, {DIMENSIONS}) DO UPDATE SET events = d.events + excluded.events
        RETURNING d.environment_id, d.events
    )
    SELECT (SELECT count(*) FROM claimed) AS changes,
           ARRAY(SELECT DISTINCT environment_id FROM moved WHERE events = 0) AS emptied
""")

_DELETE_EMPTY = text("DELETE FROM evidence_days WHERE environment_id = ANY(:environment_ids) AND events = 0")


def roll_up_changes() -> int:
    """Move all changes into the day counts and return their number; may run twice and concurrently."""
    total = 0
    while True:
        with transaction():
            if not session().execute(_LOCK).scalar_one():
                return total
            change_count, environment_ids = _move()
            if environment_ids:
                session().execute(_DELETE_EMPTY, {"environment_ids": environment_ids})
        total += change_count
        if change_count < BATCH_SIZE:
            return total


def _move() -> tuple[int, list[uuid.UUID]]:
    """Move one batch; returns its size, and the environments in which counts have become zero."""
    row = session().execute(_MOVE, {"batch_size": BATCH_SIZE}).one()
    return row.changes, row.emptied
