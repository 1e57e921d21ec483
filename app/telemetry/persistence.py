"""From the inbox to interactions and sessions: set-based, in bites, without looking at a single event in Python."""

import logging

from sqlalchemy import exc, text

from app.core.database import session, transaction

BITE = 200
"""Batches in one transaction: 20,000 events at most, about half a second."""

logger = logging.getLogger(__name__)

_TAKE = text("""
    SELECT environment_id, id, event_count FROM telemetry_inbox WHERE parked_at IS NULL
    ORDER BY environment_id, id LIMIT :bite FOR UPDATE SKIP LOCKED
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
        INSERT INTO interactions ({_COLUMNS}) SELECT {_COLUMNS} FROM ({_EVENTS}) events ORDER BY environment_id, id
        ON CONFLICT (environment_id, id) DO NOTHING
        RETURNING environment_id, received_at, session_source, session_ref, customer_ref
    ), sessions_seen AS ({_SESSIONS}), days_marked AS ({_MARKS})
    SELECT count(*) FROM written
""")


def _first(column: str) -> str:
    return f"(array_agg({column} ORDER BY batch_id, position) FILTER (WHERE {column} IS NOT NULL))[1] AS {column}"


_OPTIONAL = [
    "confirmed_by",
    "confirmed_at",
    "occurred_at",
    "status_code",
    "duration_ms",
    "customer_ref",
    "runtime_hint",
    "runtime_hint_source",
    "session_ref",
    "session_source",
]

# The first real value of a field stays; what is empty is filled; a classification never falls.
_FILL = text(f"""
    WITH written AS (
        INSERT INTO interactions AS i ({_COLUMNS})
        SELECT environment_id, id, min(received_at), {_first("surface")}, {_first("operation")},
               CASE WHEN bool_or(classification = 'confirmed') THEN 'confirmed' ELSE 'unclassified' END,
               {", ".join(map(_first, _OPTIONAL))}
        FROM ({_EVENTS}) events GROUP BY environment_id, id ORDER BY environment_id, id
        ON CONFLICT (environment_id, id) DO UPDATE SET
            surface = CASE i.surface WHEN 'unknown' THEN excluded.surface ELSE i.surface END,
            operation = CASE i.operation WHEN 'pending' THEN excluded.operation ELSE i.operation END,
            classification = CASE i.classification WHEN 'confirmed' THEN i.classification
                                                   ELSE excluded.classification END,
            {", ".join(f"{column} = coalesce(i.{column}, excluded.{column})" for column in _OPTIONAL)}
        RETURNING environment_id, received_at, session_source, session_ref, customer_ref
    ), sessions_seen AS ({_SESSIONS}), days_marked AS ({_MARKS})
    SELECT count(*) FROM written
""")

_REMOVE = text("""
    DELETE FROM telemetry_inbox t
    USING unnest(CAST(:environments AS uuid[]), CAST(:batches AS bigint[])) AS taken (environment_id, id)
    WHERE t.environment_id = taken.environment_id AND t.id = taken.id
""")

_PARK = text("""
    UPDATE telemetry_inbox t SET parked_at = now()
    FROM unnest(CAST(:environments AS uuid[]), CAST(:batches AS bigint[])) AS taken (environment_id, id)
    WHERE t.environment_id = taken.environment_id AND t.id = taken.id
""")


def persist_waiting() -> int:
    """Persist every batch that waits; returns how many there were. May run twice, and beside itself."""
    total, bite = 0, BITE
    while True:
        try:
            with transaction():
                persisted = _persist(bite)
        except (exc.DataError, exc.IntegrityError) as error:
            # One batch of this bite cannot be persisted. Alone, it shows which; parked, it stops holding up the others.
            logger.error("a batch cannot be persisted", extra={"error": type(error).__name__, "isAlone": bite == 1})
            if bite == 1:
                with transaction():
                    _park_first()
            bite = 1
            continue
        total += persisted
        if persisted < bite:
            return total


def _persist(bite: int) -> int:
    taken = session().execute(_TAKE, {"bite": bite}).all()
    if not taken:
        return 0
    batches = {"environments": [row.environment_id for row in taken], "batches": [row.id for row in taken]}
    inserted: int = session().execute(_INSERT, batches).scalar_one()
    if inserted < sum(row.event_count for row in taken):
        session().execute(_FILL, batches)
    session().execute(_REMOVE, batches)
    return len(taken)


def _park_first() -> None:
    row = session().execute(_TAKE, {"bite": 1}).first()
    if row is not None:
        session().execute(_PARK, {"environments": [row.environment_id], "batches": [row.id]})
