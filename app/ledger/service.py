"""Count the batches of telemetry that have arrived, each of them once.

A batch is known by its id, which its repetitions share. What may have arrived without the sender's knowledge is counted
as lost only while it has not: its id remembers what was counted in its place, and takes that back when it arrives.
"""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import TextClause, text

from app.core.database import session
from app.ledger.counts import Change, add_up, record_changes
from app.ledger.rules import Counts, LossReport, Measure, Sender, Source

REMEMBERED_FOR = timedelta(days=7)
"""How long the id of a batch is remembered; an SDK repeats a batch within minutes."""

_KEYS = "unnest(CAST(:environments AS uuid[]), CAST(:ids AS uuid[])) AS key (environment_id, id)"

_REGISTER = text(f"""
    INSERT INTO ledger_batches (environment_id, id, expires_at)
    SELECT DISTINCT environment_id, id, CAST(:expires_at AS timestamptz) FROM {_KEYS} ORDER BY 1, 2
    ON CONFLICT (environment_id, id) DO NOTHING RETURNING environment_id, id
""")

# A batch that arrives takes back whatever was counted in its place.
_TAKE_BACK = text(f"""
    UPDATE ledger_batches b SET changes = NULL
    FROM (
        SELECT environment_id, id, changes FROM ledger_batches JOIN {_KEYS} USING (environment_id, id)
        WHERE changes IS NOT NULL FOR UPDATE OF ledger_batches
    ) AS before
    WHERE b.environment_id = before.environment_id AND b.id = before.id
    RETURNING b.environment_id, b.id, before.changes
""")

_PARTS = """
    unnest(CAST(:environments AS uuid[]), CAST(:ids AS uuid[]), CAST(:changes AS text[]))
        AS part (environment_id, id, changes)
"""

_COUNT_IN_PLACE = text(f"""
    INSERT INTO ledger_batches (environment_id, id, expires_at, changes)
    SELECT environment_id, id, CAST(:expires_at AS timestamptz), CAST(changes AS jsonb) FROM {_PARTS} ORDER BY 1, 2
    ON CONFLICT (environment_id, id) DO NOTHING RETURNING environment_id, id
""")

# A batch that is reported again, or one whose refusal its sender did not hear: it counts all of it as lost.
_REPLACE = text(f"""
    UPDATE ledger_batches b SET changes = CAST(before.part_changes AS jsonb)
    FROM (
        SELECT b.environment_id, b.id, b.changes, part.changes AS part_changes
        FROM ledger_batches b JOIN {_PARTS} ON b.environment_id = part.environment_id AND b.id = part.id
        WHERE b.changes IS NOT NULL FOR UPDATE OF b
    ) AS before
    WHERE b.environment_id = before.environment_id AND b.id = before.id
    RETURNING b.environment_id, b.id, before.changes
""")

Key = tuple[UUID, UUID]
"""Environment and id of a batch."""


class ArrivedBatch(NamedTuple):
    """A batch of telemetry, and how many of its events are new and how many are not."""

    environment_id: UUID
    received_at: datetime
    sender: Sender
    batch_id: UUID | None
    accepted: int
    duplicate: int
    report: LossReport

    @property
    def key(self) -> Key | None:
        """The environment and id of the batch, if it has an id."""
        return (self.environment_id, self.batch_id) if self.batch_id else None

    def change(self, measure: Measure, name: str = "") -> Change:
        """Return what events of this batch are counted as."""
        day_on = self.received_at.astimezone(UTC).date()
        return Change(self.environment_id, day_on, Source.TELEMETRY, *self.sender, measure, name)

    def losses(self, counts: Counts) -> dict[Change, int]:
        """Return events that this batch reports as lost."""
        return {self.change(Measure.LOST, reason): count for reason, count in counts.items()}


def count_batches(batches: Sequence[ArrivedBatch], now: datetime) -> None:
    """Count batches in the transaction that stores their events.

    Of a repetition only new events are counted: the first one has counted the others, and what it reports.
    """
    first_keys, taken_back = _register(batches, now)
    totals: Counter[Change] = Counter()
    parts: dict[Key, dict[Change, int]] = {}
    for batch in batches:
        totals[batch.change(Measure.ACCEPTED)] += batch.accepted
        if batch.key is not None:
            if batch.key not in first_keys:
                continue
            first_keys.remove(batch.key)
        totals[batch.change(Measure.DUPLICATE)] += batch.duplicate
        totals.update(batch.losses(batch.report.lost))
        for batch_id, counts in batch.report.unanswered.items():
            parts.setdefault((batch.environment_id, UUID(batch_id)), batch.losses(counts))
    record_changes(add_up(totals, taken_back, _count_in_place(parts, now)))


def _register(batches: Sequence[ArrivedBatch], now: datetime) -> tuple[set[Key], Counter[Change]]:
    """Return the keys that arrive for the first time, and what was counted in their place, with the opposite sign."""
    keys = [batch.key for batch in batches if batch.key]
    if not keys:
        return set(), Counter()
    values = {**_columns(keys), "expires_at": now + REMEMBERED_FOR}
    first_keys: set[Key] = {(row.environment_id, row.id) for row in session().execute(_REGISTER, values)}
    if len(first_keys) == len(set(keys)):
        return first_keys, Counter()
    keys_before, taken_back = _taken_back(_TAKE_BACK, values)
    return first_keys | keys_before, taken_back


def _count_in_place(parts: dict[Key, dict[Change, int]], now: datetime) -> Counter[Change]:
    """Remember what is counted in place of batches that have not arrived, and return how the counts change."""
    if not parts:
        return Counter()
    new_keys: set[Key] = {
        (row.environment_id, row.id) for row in session().execute(_COUNT_IN_PLACE, _values(parts, now))
    }
    # Without the new ones: what has just been counted would be taken back at once.
    other_parts = {key: part for key, part in parts.items() if key not in new_keys}
    replaced_keys: set[Key] = set()
    taken_back: Counter[Change] = Counter()
    if other_parts:
        replaced_keys, taken_back = _taken_back(_REPLACE, _values(other_parts, now))
    return add_up(taken_back, *(parts[key] for key in new_keys | replaced_keys))


def _values(parts: dict[Key, dict[Change, int]], now: datetime) -> dict[str, Any]:
    texts = [json.dumps([as_json(change, events) for change, events in part.items()]) for part in parts.values()]
    return {**_columns(list(parts)), "changes": texts, "expires_at": now + REMEMBERED_FOR}


def _taken_back(statement: TextClause, values: dict[str, Any]) -> tuple[set[Key], Counter[Change]]:
    """Execute a statement that replaces what was counted; return its keys, and that with the opposite sign."""
    keys: set[Key] = set()
    totals: Counter[Change] = Counter()
    for environment_id, batch_id, changes in session().execute(statement, values):
        keys.add((environment_id, batch_id))
        for change in changes:
            totals[_from_json(environment_id, change)] -= change["events"]
    return keys, totals


def _columns(keys: Sequence[Key]) -> dict[str, Any]:
    return {"environments": [key[0] for key in keys], "ids": [key[1] for key in keys]}


def as_json(change: Change, events: int) -> dict[str, Any]:
    """Return what is counted in place of a batch, as it is remembered."""
    columns = {name: value for name, value in change._asdict().items() if name != "environment_id"}
    return {**columns, "day_on": change.day_on.isoformat(), "events": events}


def _from_json(environment_id: UUID, content: dict[str, Any]) -> Change:
    columns = {name: content[name] for name in ("source", "sdk", "version", "measure", "name")}
    return Change(environment_id, date.fromisoformat(content["day_on"]), **columns)
