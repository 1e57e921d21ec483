"""The SQL by which other packages write interactions, sessions, day marks and the outbox of promotions.

`rows` and `events` name a CTE or are a subquery; the columns that each must have are in the docstrings.
"""

from collections.abc import Sequence

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

# The day that has waited longest; one at a time, so that a day too large to count delays no other for long.
CLAIM_MARKED_DAY = """
    WITH due AS (
        SELECT environment_id, day_on FROM day_marks GROUP BY 1, 2 ORDER BY min(id) LIMIT 1
    ), claimed AS (
        DELETE FROM day_marks m USING due WHERE m.environment_id = due.environment_id AND m.day_on = due.day_on
        RETURNING m.environment_id, m.day_on
    )
    SELECT DISTINCT environment_id, day_on FROM claimed
"""
"""Removes the marks of one day and returns its environment_id and day_on."""


def promotion_outbox(rows: str, method: str) -> str:
    """Return the statement that queues a promotion for each of `rows`: environment_id, interaction_id, created_at."""
    return f"""
        INSERT INTO promotions (environment_id, interaction_id, method, created_at)
        SELECT environment_id, interaction_id, '{method}', created_at FROM {rows}
    """


def day_marks(rows: str, instant: str = "received_at") -> str:
    """Return the statement that marks the days of `rows` for a new count: environment_id and the column `instant`."""
    return f"""
        INSERT INTO day_marks (environment_id, day_on)
        SELECT DISTINCT environment_id, ({instant} AT TIME ZONE 'UTC')::date FROM {rows}
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
            RETURNING environment_id, received_at, session_source, session_ref, customer_ref
        ), sessions_seen AS ({_SESSIONS}), days_marked AS ({day_marks("written")})
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
    empty = " OR ".join(f"(i.{column} IS NULL AND f.{column} IS NOT NULL)" for column in optional)
    # What an interaction was before the update is read from a second reference to its row.
    return f"""
        WITH first AS (
            SELECT environment_id, id, {", ".join(map(_first_value, ("surface", "operation", *optional)))}
            FROM ({events}) events GROUP BY environment_id, id
        ), written AS (
            UPDATE interactions i SET
                surface = CASE i.surface WHEN 'unknown' THEN f.surface ELSE i.surface END,
                operation = CASE i.operation WHEN 'pending' THEN f.operation ELSE i.operation END,
                {", ".join(f"{column} = coalesce(i.{column}, f.{column})" for column in optional)}
            FROM first f JOIN interactions before ON before.environment_id = f.environment_id AND before.id = f.id
            WHERE i.environment_id = f.environment_id AND i.id = f.id
              AND (i.surface = 'unknown' OR i.operation = 'pending' OR {empty})
            RETURNING i.environment_id, i.received_at, i.session_source, i.session_ref, i.customer_ref,
                      before.session_source AS source_before, before.session_ref AS ref_before,
                      before.customer_ref AS customer_before
        ), sessions_seen AS ({_SESSIONS}), days_marked AS ({day_marks("written")})
        SELECT DISTINCT environment_id, coalesce(source_before, '') AS source, ref_before AS ref,
               coalesce(customer_before, '') AS customer_ref
        FROM written
        WHERE ref_before IS NOT NULL
          AND (source_before IS DISTINCT FROM session_source OR customer_before IS DISTINCT FROM customer_ref)
    """


def _first_value(column: str) -> str:
    return f"(array_agg({column} ORDER BY batch_id, position) FILTER (WHERE {column} IS NOT NULL))[1] AS {column}"
