"""Move the changes of interactions into the day counts."""

from sqlalchemy import text

from app.core.database import session, transaction
from app.interactions.counts import CLAIM_CHANGES, COUNT_COLUMNS, COUNTS
from app.interactions.uncounted_days import COUNT_DAY, DISCARD_DAY, list_uncounted_days, set_outcomes

BATCH_SIZE = 5_000
"""Changes in one transaction: some fifty milliseconds."""

# One roll-up at a time: two that add to the same count would wait for each other.
_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtext('summaries.roll_up'))")

_MOVE = text(f"""
    WITH claimed AS ({CLAIM_CHANGES}), moved AS (
        INSERT INTO interaction_days AS d ({COUNT_COLUMNS})
        SELECT environment_id, day_on, operation, surface, {", ".join(f"sum({name})" for name in COUNTS)} FROM claimed
        GROUP BY environment_id, day_on, operation, surface
        ON CONFLICT (environment_id, day_on, operation, surface) DO UPDATE
            SET {", ".join(f"{name} = d.{name} + excluded.{name}" for name in COUNTS)}
        RETURNING d.environment_id, d.day_on, d.interactions
    ), emptied AS (
        SELECT DISTINCT environment_id, day_on FROM moved WHERE interactions = 0
    )
    SELECT (SELECT count(*) FROM claimed) AS changes,
           ARRAY(SELECT environment_id FROM emptied ORDER BY 1, day_on) AS environments,
           ARRAY(SELECT day_on FROM emptied ORDER BY environment_id, 1) AS days
""")

_DELETE_EMPTY = text(f"""
    DELETE FROM interaction_days d
    USING unnest(CAST(:environments AS uuid[]), CAST(:days AS date[])) AS emptied (environment_id, day_on)
    WHERE d.environment_id = emptied.environment_id AND d.day_on = emptied.day_on
      AND ({", ".join(f"d.{name}" for name in COUNTS)}) = (0, 0, 0, 0, 0)
""")

_DELETE_DAY = text("DELETE FROM interaction_days WHERE environment_id = :environment_id AND day_on = :day_on")
_COUNT_DAY = text(f"{DISCARD_DAY} INSERT INTO interaction_days ({COUNT_COLUMNS}) {COUNT_DAY}")


def roll_up_changes() -> int:
    """Move all changes into the day counts and return their number; may run twice and concurrently."""
    total = _move_changes()
    _count_uncounted_days()
    return total


def _move_changes() -> int:
    total = 0
    while True:
        with transaction():
            if not session().execute(_LOCK).scalar_one():
                return total
            batch = session().execute(_MOVE, {"batch_size": BATCH_SIZE}).one()
            if batch.days:
                session().execute(_DELETE_EMPTY, {"environments": batch.environments, "days": batch.days})
        change_count: int = batch.changes
        total += change_count
        if change_count < BATCH_SIZE:
            return total


def _count_uncounted_days() -> None:
    """Count the days anew that wait for it; after an upgrade there are none."""
    for day in list_uncounted_days():
        set_outcomes(day)
        with transaction():
            if not session().execute(_LOCK).scalar_one():
                return
            session().execute(_DELETE_DAY, day._asdict())
            session().execute(_COUNT_DAY, day._asdict())
