"""The SQL by which other packages write interactions, sessions and the outbox of promotions.

`rows` and `events` name a CTE or are a subquery; the columns that each must have are in the docstrings.
"""

from collections.abc import Sequence

from app.events.sql import queue_confirmations
from app.interactions.counts import COUNTED_COLUMNS, record_added, record_changed, record_each_added

_REQUIRED = ("environment_id", "id", "received_at", "surface", "operation")
_DERIVED = ("classification", "confirmed_by", "confirmed_at")

_SESSIONS = """
    INSERT INTO sessions AS s (environment_id, source, ref, customer_ref, first_seen_at, last_seen_at)
    SELECT environment_id, coalesce(session_source, ''), session_ref, coalesce(customer_ref, ''),
           min(received_at), max(received_at)
    FROM written WHERE session_ref IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (environment_id, source, ref, customer_ref) DO UPDATE
        SET first_seen_at = least(s.first_seen_at, excluded.first_seen_at),
            last_seen_at = greatest(s.last_seen_at, excluded.last_seen_at)
"""

# A session spans the arrival of each of its interactions, so an index finds the few that can belong to it.
REMOVE_EMPTY_SESSIONS = """
    DELETE FROM sessions s
    USING unnest(CAST(:environments AS uuid[]), CAST(:sources AS text[]), CAST(:refs AS text[]),
                 CAST(:customers AS text[])) AS vacated (environment_id, source, ref, customer_ref)
    WHERE s.environment_id = vacated.environment_id AND s.source = vacated.source AND s.ref = vacated.ref
      AND s.customer_ref = vacated.customer_ref
      AND NOT EXISTS (
        SELECT FROM interactions i
        WHERE i.environment_id = s.environment_id AND i.received_at BETWEEN s.first_seen_at AND s.last_seen_at
          AND i.session_ref = s.ref AND coalesce(i.session_source, '') = s.source
          AND coalesce(i.customer_ref, '') = s.customer_ref)
"""
"""Removes those of the named sessions to which no interaction belongs any more."""

# The limit keeps the planner from joining whole tables for a page of rows.
JOIN_INTERACTION = """
    LEFT JOIN LATERAL (
        SELECT operation, surface FROM interactions
        WHERE environment_id = f.environment_id AND id = f.interaction_id LIMIT 1
    ) i ON true
"""
"""Joins the interaction `i` of rows `f` that have environment_id and interaction_id."""

INTERACTION_COLUMNS = {"operation": "coalesce(i.operation, 'pending')", "surface": "coalesce(i.surface, 'unknown')"}
"""What a row tells of its interaction, also before a job has inserted a placeholder for it."""


def promotion_outbox(rows: str, method: str) -> str:
    """Return the statement that queues a promotion for each of `rows`: environment_id, interaction_id, created_at."""
    return f"""
        INSERT INTO promotions (environment_id, interaction_id, method, created_at)
        SELECT environment_id, interaction_id, '{method}', created_at FROM {rows}
    """


def insert_interactions(rows: str) -> str:
    """Return the CTEs that store an interaction for each of `rows` that is new.

    `rows` has environment_id, interaction_id, created_at, surface, operation, status_code, duration_ms and
    runtime_hint. One row waits for nothing after it is locked, so a single one needs no lock on all interactions.
    """
    return f"""
        inserted AS (
            INSERT INTO interactions (environment_id, id, received_at, surface, operation, classification,
                confirmed_by, confirmed_at, status_code, duration_ms, runtime_hint)
            SELECT environment_id, interaction_id, created_at, surface, operation,
                CASE surface WHEN 'mcp' THEN 'confirmed' ELSE 'unclassified' END,
                CASE surface WHEN 'mcp' THEN 'mcp' END, CASE surface WHEN 'mcp' THEN created_at END,
                status_code, duration_ms, runtime_hint
            FROM {rows}
            ON CONFLICT (environment_id, id) DO NOTHING
            RETURNING {", ".join(COUNTED_COLUMNS)}, id AS interaction_id, confirmed_at AS created_at
        ), counted AS ({record_each_added("inserted")})
        , confirmations AS ({queue_confirmations("(SELECT * FROM inserted WHERE classification = 'confirmed')")})
    """


def fill_interactions(rows: str) -> str:
    """Return the CTEs that fill in what is empty in the interactions of `rows`, as `insert_interactions` takes them.

    It follows `insert_interactions` as a statement of its own, which sees every interaction that was there before. The
    first real value of a field stays, as with telemetry; a call of the product's own MCP server confirms at once.
    """
    return f"""
        before AS MATERIALIZED (
            SELECT i.*, source.surface AS new_surface, source.operation AS new_operation,
                source.created_at AS new_confirmed_at, source.status_code AS new_status_code,
                source.duration_ms AS new_duration_ms, source.runtime_hint AS new_runtime_hint
            FROM interactions i JOIN {rows} source
                ON i.environment_id = source.environment_id AND i.id = source.interaction_id
            WHERE i.surface = 'unknown' OR i.operation = 'pending'
               OR (i.status_code, i.duration_ms, i.runtime_hint) IS DISTINCT FROM
                  (source.status_code, source.duration_ms, source.runtime_hint)
            FOR UPDATE OF i
        ), filled AS (
            UPDATE interactions i SET
                surface = CASE i.surface WHEN 'unknown' THEN new_surface ELSE i.surface END,
                operation = CASE i.operation WHEN 'pending' THEN new_operation ELSE i.operation END,
                classification = CASE WHEN i.surface IN ('unknown', 'mcp') AND new_surface = 'mcp'
                    THEN 'confirmed' ELSE i.classification END,
                confirmed_by = CASE WHEN i.surface IN ('unknown', 'mcp') AND new_surface = 'mcp'
                    THEN coalesce(i.confirmed_by, 'mcp') ELSE i.confirmed_by END,
                confirmed_at = CASE WHEN i.surface IN ('unknown', 'mcp') AND new_surface = 'mcp'
                    THEN coalesce(i.confirmed_at, new_confirmed_at) ELSE i.confirmed_at END,
                status_code = coalesce(i.status_code, new_status_code),
                duration_ms = coalesce(i.duration_ms, new_duration_ms),
                runtime_hint = coalesce(i.runtime_hint, new_runtime_hint)
            FROM before WHERE i.environment_id = before.environment_id AND i.id = before.id
            RETURNING {", ".join(f"i.{column}" for column in COUNTED_COLUMNS)}
        ), changed AS ({record_changed("before", "filled")})
    """


def insert_events(events: str, optional: Sequence[str]) -> str:
    """Return the statement that stores the first event of each unknown interaction and returns their number.

    `events` has the required columns of an interaction, classification, confirmed_by and confirmed_at, the optional
    columns, and batch_id and position, which order events of the same interaction.
    """
    columns = ", ".join((*_REQUIRED, *_DERIVED, *optional))
    return f"""
        WITH written AS (
            INSERT INTO interactions ({columns}) SELECT {columns} FROM ({events}) events
            ORDER BY environment_id, id, batch_id, position
            ON CONFLICT (environment_id, id) DO NOTHING
            RETURNING {", ".join(COUNTED_COLUMNS)}, session_source, session_ref, customer_ref,
                      id AS interaction_id, confirmed_at AS created_at
        ), sessions_seen AS ({_SESSIONS}), changes AS ({record_added("written")})
        , confirmations AS ({queue_confirmations("(SELECT * FROM written WHERE classification = 'confirmed')")})
        SELECT count(*) FROM written
    """


def count_further_events(events: str) -> str:
    """Return the statement that counts the events that are not the first of their interaction, by batch_id.

    It belongs after `insert_events` and before `fill_events` in their transaction; `events` is as there. Every event
    has a time of its own, so an interaction without one was inserted by a review and waits for its first event.
    """
    return f"""
        SELECT e.batch_id, count(*) AS events
        FROM (
            SELECT environment_id, id, batch_id,
                   row_number() OVER (PARTITION BY environment_id, id ORDER BY batch_id, position) AS number
            FROM ({events}) events
        ) e JOIN interactions i ON i.environment_id = e.environment_id AND i.id = e.id
        -- xmin names the transaction that wrote a row: what this one has inserted is new.
        WHERE e.number > 1 OR (i.occurred_at IS NOT NULL AND i.xmin <> pg_current_xact_id()::xid)
        GROUP BY 1
    """


def fill_events(events: str, optional: Sequence[str]) -> str:
    """Return the statement that fills what is empty in stored interactions; `events` is as in `insert_events`.

    The first value of a column stays. Only a placeholder has no surface of its own; what has one is not confirmed by
    an event that claims another. The rows are the keys of sessions that interactions have left.
    """
    counted = ", ".join(f"i.{column}" for column in COUNTED_COLUMNS)
    empty = " OR ".join(f"(i.{column} IS NULL AND f.{column} IS NOT NULL)" for column in optional)
    # What an interaction was before the update is read from the row that is locked for it.
    return f"""
        WITH first AS (
            SELECT environment_id, id, {", ".join(map(_first_value, ("surface", "operation", *optional)))}
            FROM ({events}) events GROUP BY environment_id, id
        ), before AS MATERIALIZED (
            SELECT i.* FROM interactions i JOIN first f ON f.environment_id = i.environment_id AND f.id = i.id
            WHERE i.surface = 'unknown' OR i.operation = 'pending' OR {empty}
            FOR UPDATE OF i
        ), written AS (
            UPDATE interactions i SET
                surface = CASE i.surface WHEN 'unknown' THEN f.surface ELSE i.surface END,
                operation = CASE i.operation WHEN 'pending' THEN f.operation ELSE i.operation END,
                {", ".join(f"{column} = coalesce(i.{column}, f.{column})" for column in optional)}
            FROM first f JOIN before ON before.environment_id = f.environment_id AND before.id = f.id
            WHERE i.environment_id = f.environment_id AND i.id = f.id
            RETURNING {counted}, i.session_source, i.session_ref, i.customer_ref,
                      before.session_source AS source_before, before.session_ref AS ref_before,
                      before.customer_ref AS customer_before
        ), sessions_seen AS ({_SESSIONS}), changes AS ({record_changed("before", "written")})
        SELECT DISTINCT environment_id, coalesce(source_before, '') AS source, ref_before AS ref,
               coalesce(customer_before, '') AS customer_ref
        FROM written
        WHERE ref_before IS NOT NULL
          AND (source_before IS DISTINCT FROM session_source OR customer_before IS DISTINCT FROM customer_ref)
    """


def _first_value(column: str) -> str:
    return f"(array_agg({column} ORDER BY batch_id, position) FILTER (WHERE {column} IS NOT NULL))[1] AS {column}"
