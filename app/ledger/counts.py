"""Counts by day that are exact at every moment.

What becomes of events is recorded as changes, in the transaction that decides it. The roll-up moves the changes into
the day counts in one transaction, and a reader adds up both in one statement.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.core.database import session, transaction
from app.core.database.deletion import first_rows
from app.ledger.rules import Measure, Source

BATCH_SIZE = 5_000
"""Changes in one transaction: some fifty milliseconds."""

MAX_SENDERS = 100
"""SDKs and versions of an environment and day; more are counted together as `other`."""

COLUMNS = "environment_id, day_on, source, sdk, version, measure, name"


class Change(NamedTuple):
    """What a number of events is counted as."""

    environment_id: UUID
    day_on: date
    source: str
    sdk: str
    version: str
    measure: str
    name: str = ""


_RECORD = text(f"""
    INSERT INTO ledger_changes ({COLUMNS}, events)
    SELECT * FROM unnest(CAST(:environments AS uuid[]), CAST(:days AS date[]), CAST(:sources AS text[]),
        CAST(:sdks AS text[]), CAST(:versions AS text[]), CAST(:measures AS text[]), CAST(:names AS text[]),
        CAST(:events AS bigint[]))
""")

# One roll-up at a time: two that add to the same count would wait for each other.
_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtext('ledger.roll_up'))")

_MOVE = text(f"""
    WITH claimed AS (
        DELETE FROM ledger_changes WHERE {first_rows("ledger_changes")}
        RETURNING {COLUMNS}, events
    ), counted_senders AS (
        SELECT DISTINCT environment_id, day_on, sdk, version FROM ledger_days
        WHERE (environment_id, day_on) IN (SELECT environment_id, day_on FROM claimed)
    ), new_senders AS (
        SELECT environment_id, day_on, sdk, version FROM claimed
        EXCEPT SELECT environment_id, day_on, sdk, version FROM counted_senders
    ), excess_senders AS (
        SELECT environment_id, day_on, sdk, version FROM (
            SELECT n.*, row_number() OVER (PARTITION BY n.environment_id, n.day_on ORDER BY n.sdk, n.version)
                + (SELECT count(*) FROM counted_senders c
                   WHERE c.environment_id = n.environment_id AND c.day_on = n.day_on) AS number
            FROM new_senders n) AS numbered
        WHERE number > :max_senders
    ), moved AS (
        INSERT INTO ledger_days AS d ({COLUMNS}, events)
        SELECT c.environment_id, c.day_on, c.source, CASE WHEN e.sdk IS NULL THEN c.sdk ELSE 'other' END,
               CASE WHEN e.sdk IS NULL THEN c.version ELSE 'other' END, c.measure, c.name, sum(c.events)
        FROM claimed c LEFT JOIN excess_senders e USING (environment_id, day_on, sdk, version)
        GROUP BY 1, 2, 3, 4, 5, 6, 7
        ON CONFLICT ({COLUMNS}) DO UPDATE SET events = d.events + excluded.events
    )
    SELECT count(*) FROM claimed
""")


def record_totals(rows: str, source: Source) -> str:
    """Return the statement that records the events of batches that were stored at once.

    `rows` have environment_id, day_on, sdk, version, the number of events, and how many are accepted and expired.
    """
    return f"""
        INSERT INTO ledger_changes ({COLUMNS}, events)
        SELECT r.environment_id, r.day_on, '{source}', r.sdk, r.version, counted.measure, '', counted.events
        FROM {rows} r CROSS JOIN LATERAL (VALUES
            ('{Measure.ACCEPTED}', r.accepted), ('{Measure.EXPIRED}', r.expired),
            ('{Measure.DUPLICATE}', r.events - r.accepted - r.expired)) AS counted (measure, events)
        WHERE counted.events > 0
    """


def record_changes(changes: Mapping[Change, int]) -> None:
    """Record numbers of events in the current transaction."""
    rows = [(*change, events) for change, events in changes.items() if events]
    if rows:
        names = ("environments", "days", "sources", "sdks", "versions", "measures", "names", "events")
        session().execute(_RECORD, dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def add_up(*parts: Mapping[Change, int]) -> Counter[Change]:
    """Return the sums of several mappings, negative ones as well."""
    totals: Counter[Change] = Counter()
    for part in parts:
        totals.update(part)
    return totals


def roll_up_changes() -> int:
    """Move all changes into the day counts and return their number; may run twice and concurrently."""
    total = 0
    while True:
        with transaction():
            if not session().execute(_LOCK).scalar_one():
                return total
            values = {"batch_size": BATCH_SIZE, "max_senders": MAX_SENDERS}
            change_count: int = session().execute(_MOVE, values).scalar_one()
        total += change_count
        if change_count < BATCH_SIZE:
            return total
