"""Move events from the inbox to interactions and sessions: many batches in a few statements, none parsed in Python."""

import logging
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import exc, insert, text

from app.core import clock
from app.core.database import session, transaction
from app.events import service as events
from app.interactions import sql
from app.interactions.service import lock_interactions
from app.ledger import service as ledger
from app.ledger.rules import UNKNOWN, LossReport, Sender
from app.telemetry.columns import EVENT_COLUMNS, OPTIONAL_COLUMNS
from app.telemetry.models import WaitingBatch

BATCH_SIZE = 200
"""Batches in one transaction: 20,000 events at most, about half a second."""

_DATA_ERRORS = (exc.DataError, exc.IntegrityError)

logger = logging.getLogger(__name__)

_COLUMNS = "environment_id, id, received_at, event_count, sdk, sdk_version, batch_id, loss_report"

_CLAIM_BATCHES = text(f"""
    SELECT {_COLUMNS} FROM telemetry_inbox WHERE parked_at IS NULL
    ORDER BY id LIMIT :batch_size FOR UPDATE SKIP LOCKED
""")

_CLAIM_BATCH = text(f"""
    SELECT {_COLUMNS} FROM telemetry_inbox
    WHERE environment_id = :environment_id AND id = :id AND parked_at IS NULL FOR UPDATE SKIP LOCKED
""")

_EVENTS = f"""
    SELECT t.environment_id, t.received_at, t.id AS batch_id, e.position,
           {", ".join(f'e."{column.member}" AS {column.column}' for column in EVENT_COLUMNS)},
           CASE WHEN e.surface = 'mcp' THEN 'confirmed' ELSE 'unclassified' END AS classification,
           CASE WHEN e.surface = 'mcp' THEN 'mcp' END AS confirmed_by,
           CASE WHEN e.surface = 'mcp' THEN t.received_at END AS confirmed_at
    FROM telemetry_inbox t
    JOIN unnest(CAST(:environments AS uuid[]), CAST(:batches AS bigint[])) AS claimed (environment_id, id)
      ON t.environment_id = claimed.environment_id AND t.id = claimed.id
    CROSS JOIN ROWS FROM (json_to_recordset(t.events::json) AS (
        {", ".join(f'"{column.member}" {column.sql_type}' for column in EVENT_COLUMNS)}
    )) WITH ORDINALITY AS e ({", ".join(f'"{column.member}"' for column in EVENT_COLUMNS)}, position)
"""

# Nearly every event is the first of its interaction. Those that are not are counted, and filled in after.
_INSERT = text(sql.insert_events(_EVENTS, OPTIONAL_COLUMNS))
_COUNT_FURTHER = text(sql.count_further_events(_EVENTS))
_FILL = text(sql.fill_events(_EVENTS, OPTIONAL_COLUMNS))
_REMOVE_EMPTY_SESSIONS = text(sql.REMOVE_EMPTY_SESSIONS)

_REMOVE = text("""
    DELETE FROM telemetry_inbox t
    USING unnest(CAST(:environments AS uuid[]), CAST(:batches AS bigint[])) AS claimed (environment_id, id)
    WHERE t.environment_id = claimed.environment_id AND t.id = claimed.id
""")

_PARK = text("""
    UPDATE telemetry_inbox SET parked_at = now()
    WHERE environment_id = :environment_id AND id = :id AND parked_at IS NULL
""")

_STORE_WAITING = insert(WaitingBatch).returning(*(getattr(WaitingBatch, name) for name in _COLUMNS.split(", ")))

Batch = dict[str, Any]


def persist_batches(batches: Sequence[Batch]) -> None:
    """Persist batches in the current transaction, each with the columns that an accepted one has in the inbox."""
    lock_interactions()
    for start in range(0, len(batches), BATCH_SIZE):
        rows = session().execute(_STORE_WAITING, list(batches[start : start + BATCH_SIZE])).mappings()
        _persist([dict(row) for row in rows])


def persist_waiting_batches() -> int:
    """Persist every waiting batch and return their number; may run twice and concurrently."""
    total = 0
    while True:
        batches: list[Batch] = []
        try:
            with transaction():
                lock_interactions()
                batches = [
                    dict(row) for row in session().execute(_CLAIM_BATCHES, {"batch_size": BATCH_SIZE}).mappings()
                ]
                _persist(batches)
        except _DATA_ERRORS as error:
            logger.error("a batch cannot be persisted", extra={"error": type(error).__name__})
            _persist_separately(batches)
        total += len(batches)
        if len(batches) < BATCH_SIZE:
            break
    if total:
        # An interaction with the product's own MCP server is confirmed at once.
        events.notify_webhooks()
    return total


def _persist(batches: list[Batch]) -> None:
    if not batches:
        return
    keys = {
        "environments": [batch["environment_id"] for batch in batches],
        "batches": [batch["id"] for batch in batches],
    }
    row_count: int = session().execute(_INSERT, keys).scalar_one()
    duplicates: dict[int, int] = {}
    if row_count < sum(batch["event_count"] for batch in batches):
        duplicates = {row.batch_id: row.events for row in session().execute(_COUNT_FURTHER, keys)}
        _fill(keys)
    _count(batches, duplicates)
    session().execute(_REMOVE, keys)


def _count(batches: list[Batch], duplicates: dict[int, int]) -> None:
    """Count batches in the ledger; `duplicates` has the number of events that are not new, by the id of the row."""
    arrived_batches = [
        ledger.ArrivedBatch(
            batch["environment_id"],
            batch["received_at"],
            Sender(batch["sdk"] or UNKNOWN, batch["sdk_version"] or UNKNOWN),
            batch["batch_id"],
            batch["event_count"] - duplicates.get(batch["id"], 0),
            duplicates.get(batch["id"], 0),
            msgspec.json.decode(batch["loss_report"], type=LossReport) if batch["loss_report"] else LossReport(),
        )
        for batch in batches
    ]
    ledger.count_batches(arrived_batches, clock.now())


def _fill(keys: dict[str, Any]) -> None:
    """Fill in interactions, and remove the sessions that are left without any."""
    empty_sessions = session().execute(_FILL, keys).all()
    if empty_sessions:
        names = ("environments", "sources", "refs", "customers")
        session().execute(
            _REMOVE_EMPTY_SESSIONS, dict(zip(names, map(list, zip(*empty_sessions, strict=True)), strict=True))
        )


def _persist_separately(batches: list[Batch]) -> None:
    """Persist each batch in a transaction of its own, and park those that cannot be."""
    for batch in batches:
        try:
            with transaction():
                lock_interactions()
                # Another worker may have persisted it meanwhile.
                _persist([dict(row) for row in session().execute(_CLAIM_BATCH, batch).mappings()])
        except _DATA_ERRORS:
            with transaction():
                # It is counted when it is stored, like any other that waits in the inbox.
                session().execute(_PARK, batch)
            logger.error("a batch was parked", extra={"batchId": batch["id"]})
