"""Promotion, and reading one interaction."""

import uuid
from typing import Any

from sqlalchemy import select, text

from app.core import clock
from app.core.database import session, transaction
from app.core.database.deletion import first_rows
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

# No table or CTE is joined with another of unknown size: the outbox is mostly empty, so the planner expects one row.
_PROMOTE = text(f"""
    WITH claimed AS (
        DELETE FROM promotions WHERE {first_rows("promotions", skips_locked=True)}
        RETURNING environment_id, interaction_id, method, created_at
    ), earliest AS (
        SELECT DISTINCT ON (environment_id, interaction_id) environment_id, interaction_id, method, created_at,
               bool_or(method = 'review') OVER (PARTITION BY environment_id, interaction_id) AS has_review
        FROM claimed ORDER BY environment_id, interaction_id, created_at
    ), confirmed AS MATERIALIZED (
        SELECT environment_id, interaction_id, method, created_at, CASE WHEN has_review THEN (
            SELECT outcome FROM reviews r
            WHERE r.environment_id = e.environment_id AND r.interaction_id = e.interaction_id) END AS outcome
        FROM earliest e
    ), locked AS MATERIALIZED (
        SELECT i.* FROM interactions i
        JOIN confirmed c ON c.environment_id = i.environment_id AND c.interaction_id = i.id
        WHERE i.classification <> 'confirmed' OR (i.outcome IS NULL AND c.outcome IS NOT NULL)
        FOR UPDATE OF i
    ), promoted AS (
        INSERT INTO interactions AS i
            (environment_id, id, received_at, surface, operation, classification, confirmed_by, confirmed_at, outcome)
        SELECT environment_id, interaction_id, created_at, 'unknown', 'pending', 'confirmed', method, created_at,
               outcome
        -- All rows are locked and read before the first is updated.
        FROM confirmed WHERE (SELECT count(*) FROM locked) >= 0
        ON CONFLICT (environment_id, id) DO UPDATE
            SET classification = 'confirmed', confirmed_by = coalesce(i.confirmed_by, excluded.confirmed_by),
                confirmed_at = coalesce(i.confirmed_at, excluded.confirmed_at),
                outcome = coalesce(i.outcome, excluded.outcome)
            WHERE i.classification <> 'confirmed' OR (i.outcome IS NULL AND excluded.outcome IS NOT NULL)
        RETURNING i.id, i.confirmed_by, i.confirmed_at, {_COUNTED}
    ), stored_meanwhile AS (
        -- By telemetry or a request, while this statement ran: a placeholder has no surface of its own.
        SELECT environment_id, id, received_at, operation, surface, confirmed_by = 'mcp' AS is_mcp
        FROM promoted WHERE surface <> 'unknown'
        EXCEPT
        SELECT environment_id, id, received_at, operation, surface, coalesce(confirmed_by, '') = 'mcp' FROM locked
    ), before AS (
        SELECT {", ".join(COUNTED_COLUMNS)} FROM locked
        UNION ALL
        SELECT environment_id, received_at, operation, surface,
               CASE WHEN is_mcp THEN 'confirmed' ELSE 'unclassified' END, NULL
        FROM stored_meanwhile
    ), changes AS ({record_changed("before", "promoted")}), newly_confirmed AS (
        SELECT environment_id, id AS interaction_id, confirmed_at AS created_at
        FROM promoted WHERE confirmed_by <> 'mcp'
        EXCEPT
        SELECT environment_id, id, confirmed_at FROM locked WHERE classification = 'confirmed'
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
