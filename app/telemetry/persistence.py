"""From the inbox to interactions and sessions: set-based, in batches, without looking at a single event in Python."""

import logging
from typing import Any

from sqlalchemy import exc, text

from app.core.database import session, transaction
from app.interactions.service import write_alone

BATCH_SIZE = 200
"""Batches in one transaction: 20,000 events at most, about half a second."""

_UNFIT = (exc.DataError, exc.IntegrityError)

logger = logging.getLogger(__name__)

_TAKE = text("""
    SELECT environment_id, id, event_count FROM telemetry_inbox WHERE parked_at IS NULL
    ORDER BY id LIMIT :batch_size FOR UPDATE SKIP LOCKED
""")

_TAKE_ONE = text("""
    SELECT environment_id, id, event_count FROM telemetry_inbox
    WHERE environment_id = :environment_id AND id = :id AND parked_at IS NULL FOR UPDATE SKIP LOCKED
""")

_EVENTS = """
    SELECT t.environment_id, e."interactionId" AS id, t.received_at, t.id AS batch_id, e.position,
           e.surface, e.operation,
           CASE WHEN e.surface = 'mcp' THEN 'confirmed' ELSE 'unclassified' END AS classification,
           CASE WHEN e.surface = 'mcp' THEN 'mcp' END AS confirmed_by,
           CASE WHEN e.surface = 'mcp' THEN t.received_at END AS confirmed_at,
           -- The years 1 and 9999 have instants that no program can read back in another zone.
           greatest(least(e."occurredAt", '9999-12-31T00:00:00Z'), '0001-01-02T00:00:00Z') AS occurred_at,
           e."statusCode" AS status_code, e."durationMs" AS duration_ms, e."customerRef" AS customer_ref,
           e."runtimeHint" AS runtime_hint, e."runtimeHintSource" AS runtime_hint_source,
           e."sessionRef" AS session_ref, e."sessionSource" AS session_source
    FROM telemetry_inbox t
    JOIN unnest(CAST(:environments AS uuid[]), CAST(:batches AS bigint[])) AS taken (environment_id, id)
      ON t.environment_id = taken.environment_id AND t.id = taken.id
    CROSS JOIN ROWS FROM (json_to_recordset(t.events::json) AS (
        "interactionId" uuid, surface text, operation text, "occurredAt" timestamptz, "statusCode" smallint,
        "durationMs" double precision, "customerRef" text, "runtimeHint" text, "runtimeHintSource" text,
        "sessionRef" text, "sessionSource" text)) WITH ORDINALITY AS e (
        "interactionId", surface, operation, "occurredAt", "statusCode", "durationMs", "customerRef", "runtimeHint",
        "runtimeHintSource", "sessionRef", "sessionSource", position)
"""

_COLUMNS = """environment_id, id, received_at, surface, operation, classification, confirmed_by, confirmed_at,
    occurred_at, status_code, duration_ms, customer_ref, runtime_hint, runtime_hint_source, session_ref,
    session_source"""

_SESSIONS = """
    INSERT INTO sessions AS s (environment_id, source, ref, customer_ref, first_seen_at, last_seen_at)
    SELECT environment_id, coalesce(session_source, ''), session_ref, coalesce(customer_ref, ''),
           min(received_at), max(received_at)
    FROM written WHERE session_ref IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (environment_id, source, ref, customer_ref) DO UPDATE
        SET first_seen_at = least(s.first_seen_at, excluded.first_seen_at),
            last_seen_at = greatest(s.last_seen_at, excluded.last_seen_at)
"""

_MARKS = """
    INSERT INTO day_marks (environment_id, day_on)
    SELECT DISTINCT environment_id, (received_at AT TIME ZONE 'UTC')::date FROM written
"""

# Nearly every event is the first word on its interaction. Those that are not are counted, and filled in after.
_INSERT = text(f"""
    WITH written AS (
        INSERT INTO interactions ({_COLUMNS}) SELECT {_COLUMNS} FROM ({_EVENTS}) events
        ORDER BY environment_id, id, batch_id, position
        ON CONFLICT (environment_id, id) DO NOTHING
        RETURNING environment_id, received_at, session_source, session_ref, customer_ref
    ), sessions_seen AS ({_SESSIONS}), days_marked AS ({_MARKS})
    SELECT count(*) FROM written
""")


def _first(column: str) -> str:
    return f"(array_agg({column} ORDER BY batch_id, position) FILTER (WHERE {column} IS NOT NULL))[1] AS {column}"


_OPTIONAL = (
    "occurred_at",
    "status_code",
    "duration_ms",
    "customer_ref",
    "runtime_hint",
    "runtime_hint_source",
    "session_ref",
    "session_source",
)

_EMPTY = " OR ".join(f"(i.{column} IS NULL AND f.{column} IS NOT NULL)" for column in _OPTIONAL)

# The first real value of a field stays and what is empty is filled. Only a placeholder has no surface of its own yet;
# what has one is not confirmed by an event that claims another.
_FILL = text(f"""
    WITH first AS (
        SELECT environment_id, id, {_first("surface")}, {_first("operation")}, {", ".join(map(_first, _OPTIONAL))}
        FROM ({_EVENTS}) events GROUP BY environment_id, id
    ), written AS (
        UPDATE interactions i SET
            surface = CASE i.surface WHEN 'unknown' THEN f.surface ELSE i.surface END,
            operation = CASE i.operation WHEN 'pending' THEN f.operation ELSE i.operation END,
            {", ".join(f"{column} = coalesce(i.{column}, f.{column})" for column in _OPTIONAL)}
        FROM first f
        WHERE i.environment_id = f.environment_id AND i.id = f.id
          AND (i.surface = 'unknown' OR i.operation = 'pending' OR {_EMPTY})
        RETURNING i.environment_id, i.received_at, i.session_source, i.session_ref, i.customer_ref
    ), sessions_seen AS ({_SESSIONS}), days_marked AS ({_MARKS})
    SELECT count(*) FROM written
""")

_REMOVE = text("""
    DELETE FROM telemetry_inbox t
    USING unnest(CAST(:environments AS uuid[]), CAST(:batches AS bigint[])) AS taken (environment_id, id)
    WHERE t.environment_id = taken.environment_id AND t.id = taken.id
""")

_PARK = text("UPDATE telemetry_inbox SET parked_at = now() WHERE environment_id = :environment_id AND id = :id")

Batch = dict[str, Any]


def persist_waiting() -> int:
    """Persist every batch that waits; returns how many there were. May run twice, and beside itself."""
    total = 0
    while True:
        taken: list[Batch] = []
        try:
            with transaction():
                write_alone()
                taken = [dict(batch) for batch in session().execute(_TAKE, {"batch_size": BATCH_SIZE}).mappings()]
                _persist(taken)
        except _UNFIT as error:
            logger.error("a batch cannot be persisted", extra={"error": type(error).__name__})
            _persist_one_by_one(taken)
        total += len(taken)
        if len(taken) < BATCH_SIZE:
            return total


def _persist(batches: list[Batch]) -> None:
    if not batches:
        return
    keys = {
        "environments": [batch["environment_id"] for batch in batches],
        "batches": [batch["id"] for batch in batches],
    }
    inserted: int = session().execute(_INSERT, keys).scalar_one()
    if inserted < sum(batch["event_count"] for batch in batches):
        session().execute(_FILL, keys)
    session().execute(_REMOVE, keys)


def _persist_one_by_one(batches: list[Batch]) -> None:
    """Persist what can be; a batch that cannot is parked, so that it holds up no other."""
    for batch in batches:
        try:
            with transaction():
                write_alone()
                # Another worker may have taken it meanwhile.
                _persist([dict(one) for one in session().execute(_TAKE_ONE, batch).mappings()])
        except _UNFIT:
            with transaction():
                session().execute(_PARK, batch)
            logger.error("a batch was parked", extra={"batchId": batch["id"]})
