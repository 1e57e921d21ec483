"""Promotion, and reading one interaction."""

import uuid
from typing import Any

from sqlalchemy import select, text

from app.core import clock
from app.core.database import session, transaction
from app.core.jobs import Job, notify
from app.core.settings import current_settings
from app.events import service as events
from app.events.sql import queue_confirmations, queue_submissions
from app.interactions import sql
from app.interactions.counts import COUNTED_COLUMNS, record_changed
from app.interactions.models import Interaction

BATCH_SIZE = 5_000

_COUNTED = ", ".join(f"i.{column}" for column in COUNTED_COLUMNS)

_LOCK = text("SELECT pg_advisory_xact_lock(hashtext('interactions'))")

_PROMOTE = text(f"""
    WITH claimed AS (
        DELETE FROM promotions p
        USING (SELECT environment_id, id FROM promotions ORDER BY environment_id, id LIMIT :batch_size
               FOR UPDATE SKIP LOCKED) waiting
        WHERE p.environment_id = waiting.environment_id AND p.id = waiting.id
        RETURNING p.environment_id, p.interaction_id, p.method, p.created_at
    ), earliest AS (
        SELECT DISTINCT ON (environment_id, interaction_id) environment_id, interaction_id, method, created_at
        FROM claimed ORDER BY environment_id, interaction_id, created_at
    ), reviewed AS (
        -- Distinct, for a first review may have expired before this job ran.
        SELECT DISTINCT c.environment_id, c.interaction_id, r.outcome FROM claimed c
        JOIN reviews r ON r.environment_id = c.environment_id AND r.interaction_id = c.interaction_id
        WHERE c.method = 'review'
    ), locked AS MATERIALIZED (
        SELECT i.* FROM interactions i
        JOIN earliest e ON e.environment_id = i.environment_id AND e.interaction_id = i.id FOR UPDATE OF i
    ), promoted AS (
        INSERT INTO interactions AS i
            (environment_id, id, received_at, surface, operation, classification, confirmed_by, confirmed_at, outcome)
        SELECT e.environment_id, e.interaction_id, e.created_at, 'unknown', 'pending', 'confirmed', e.method,
               e.created_at, r.outcome
        FROM earliest e LEFT JOIN reviewed r ON r.environment_id = e.environment_id
            AND r.interaction_id = e.interaction_id
        -- All rows are locked and read before the first is updated.
        WHERE (SELECT count(*) FROM locked) >= 0
        ON CONFLICT (environment_id, id) DO UPDATE
            SET classification = 'confirmed', confirmed_by = coalesce(i.confirmed_by, excluded.confirmed_by),
                confirmed_at = coalesce(i.confirmed_at, excluded.confirmed_at),
                outcome = coalesce(i.outcome, excluded.outcome)
            WHERE i.classification <> 'confirmed' OR (i.outcome IS NULL AND excluded.outcome IS NOT NULL)
        RETURNING i.id, i.confirmed_by, i.confirmed_at, {_COUNTED}
    ), before AS (
        SELECT {_COUNTED} FROM promoted p
        JOIN locked i ON i.environment_id = p.environment_id AND i.id = p.id
        UNION ALL
        -- Stored by telemetry or a request while this statement ran: a placeholder has no surface of its own.
        SELECT environment_id, received_at, operation, surface,
               CASE confirmed_by WHEN 'mcp' THEN 'confirmed' ELSE 'unclassified' END, NULL
        FROM promoted p
        WHERE surface <> 'unknown'
          AND NOT EXISTS (SELECT FROM locked i WHERE i.environment_id = p.environment_id AND i.id = p.id)
    ), changes AS ({record_changed("before", "promoted")}), newly_confirmed AS (
        -- What its own telemetry or request confirmed meanwhile was queued there.
        SELECT p.environment_id, p.id AS interaction_id, p.confirmed_at AS created_at FROM promoted p
        LEFT JOIN locked i ON i.environment_id = p.environment_id AND i.id = p.id
        WHERE coalesce(i.classification, p.confirmed_by) NOT IN ('confirmed', 'mcp')
    ), confirmations AS ({queue_confirmations("newly_confirmed")}), submissions AS ({queue_submissions("claimed")})
    SELECT count(*) FROM claimed
""")


_QUEUE_ANSWER_PROMOTION = text(
    sql.promotion_outbox(
        "(SELECT CAST(:environment_id AS uuid) AS environment_id, CAST(:interaction_id AS uuid) AS interaction_id, "
        "CAST(:now AS timestamptz) AS created_at) AS answered",
        "answer",
    )
)


def queue_promotion(environment_id: uuid.UUID, interaction_id: uuid.UUID) -> None:
    """Queue the promotion of an interaction whose agent has answered, and notify the job."""
    session().execute(
        _QUEUE_ANSWER_PROMOTION,
        {"environment_id": environment_id, "interaction_id": interaction_id, "now": clock.now()},
    )
    notify(Job.PROMOTE_INTERACTIONS)


def lock_interactions() -> None:
    """Lock interactions against other sets of writes until the transaction ends; two that overlap could deadlock."""
    session().execute(_LOCK)


def promote_queued_interactions() -> int:
    """Confirm every interaction with a row in the outbox, and return the number of rows.

    One without telemetry gets a placeholder. Promotion is one-way, so running it twice changes nothing. What was
    confirmed or sent is queued as an event in the same statement that removes the outbox row.
    """
    total, exports_reviews = 0, current_settings().exports_reviews
    while True:
        with transaction():
            lock_interactions()
            values = {"batch_size": BATCH_SIZE, "exports_reviews": exports_reviews}
            row_count: int = session().execute(_PROMOTE, values).scalar_one()
        total += row_count
        if row_count < BATCH_SIZE:
            break
    if total:
        events.notify_webhooks()
    if total and exports_reviews:
        notify(Job.EXPORT_REVIEWS)
    return total


def find_interaction(environment_id: uuid.UUID, interaction_id: uuid.UUID) -> dict[str, Any] | None:
    """Return the stored columns of an interaction, or None."""
    table = Interaction.__table__
    statement = select(table).where(Interaction.environment_id == environment_id, Interaction.id == interaction_id)
    row = session().execute(statement).mappings().one_or_none()
    return dict(row) if row else None
