"""Promotion, and reading one interaction."""

import uuid
from typing import Any, NamedTuple

from sqlalchemy import select, text

from app.core import clock
from app.core.database import session, transaction
from app.core.jobs import Job, notify
from app.core.settings import current_settings
from app.events import service as events
from app.events.sql import queue_confirmations, queue_submissions
from app.interactions import sql
from app.interactions.models import Interaction
from app.interactions.rules import CONFIRMED, UNCLASSIFIED

BATCH_SIZE = 5_000

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
    ), promoted AS (
        INSERT INTO interactions AS i
            (environment_id, id, received_at, surface, operation, classification, confirmed_by, confirmed_at)
        SELECT environment_id, interaction_id, created_at, 'unknown', 'pending', 'confirmed', method, created_at
        FROM earliest
        ON CONFLICT (environment_id, id) DO UPDATE
            SET classification = 'confirmed', confirmed_by = excluded.confirmed_by, confirmed_at = excluded.confirmed_at
            WHERE i.classification <> 'confirmed'
        RETURNING i.environment_id, i.id AS interaction_id, i.received_at, i.confirmed_at AS created_at
    ), touched AS (
        SELECT environment_id, received_at FROM promoted
        UNION ALL
        -- One that was confirmed before has a review now; its day counts that too.
        SELECT i.environment_id, i.received_at FROM interactions i
        JOIN earliest e ON e.environment_id = i.environment_id AND e.interaction_id = i.id
    ), marked AS ({sql.day_marks("touched")})
    , confirmations AS ({queue_confirmations("promoted")})
    , submissions AS ({queue_submissions("claimed")})
    SELECT count(*) FROM claimed
""")


# The first real value of a field stays, as with telemetry; a call of the product's own MCP server confirms at once.
_STORE_INTERACTION = text(f"""
    WITH recorded AS (
        INSERT INTO interactions AS i (environment_id, id, received_at, surface, operation, classification,
            confirmed_by, confirmed_at, status_code, duration_ms, runtime_hint)
        VALUES (:environment_id, :interaction_id, :now, :surface, :operation, :classification,
            :confirmed_by, :confirmed_at, :status_code, :duration_ms, :runtime_hint)
        ON CONFLICT (environment_id, id) DO UPDATE SET
            surface = CASE i.surface WHEN 'unknown' THEN excluded.surface ELSE i.surface END,
            operation = CASE i.operation WHEN 'pending' THEN excluded.operation ELSE i.operation END,
            classification = CASE WHEN i.surface IN ('unknown', 'mcp') AND excluded.surface = 'mcp'
                THEN 'confirmed' ELSE i.classification END,
            confirmed_by = CASE WHEN i.surface IN ('unknown', 'mcp')
                THEN coalesce(i.confirmed_by, excluded.confirmed_by) ELSE i.confirmed_by END,
            confirmed_at = CASE WHEN i.surface IN ('unknown', 'mcp')
                THEN coalesce(i.confirmed_at, excluded.confirmed_at) ELSE i.confirmed_at END,
            status_code = coalesce(i.status_code, excluded.status_code),
            duration_ms = coalesce(i.duration_ms, excluded.duration_ms),
            runtime_hint = coalesce(i.runtime_hint, excluded.runtime_hint)
        RETURNING environment_id, id AS interaction_id, received_at, confirmed_at AS created_at
    ), newly_confirmed AS (
        -- One that was confirmed before has kept its instant.
        SELECT * FROM recorded WHERE created_at = :now
    ), confirmations AS ({queue_confirmations("newly_confirmed")})
    {sql.day_marks("recorded")}
""")

_QUEUE_ANSWER_PROMOTION = text(
    sql.promotion_outbox(
        "(SELECT CAST(:environment_id AS uuid) AS environment_id, CAST(:interaction_id AS uuid) AS interaction_id, "
        "CAST(:now AS timestamptz) AS created_at) AS answered",
        "answer",
    )
)


class NewInteraction(NamedTuple):
    """A product response about which a company requests context."""

    interaction_id: uuid.UUID
    surface: str
    operation: str
    status_code: int | None
    duration_ms: float | None
    runtime_hint: str | None


def store_interaction(environment_id: uuid.UUID, interaction: NewInteraction) -> None:
    """Store an interaction, or fill in what is empty in it.

    It locks one row and waits for nothing after that, so it needs no lock on all interactions.
    """
    now, is_confirmed = clock.now(), interaction.surface == "mcp"
    values = {
        **interaction._asdict(),
        "environment_id": environment_id,
        "now": now,
        "classification": CONFIRMED if is_confirmed else UNCLASSIFIED,
        "confirmed_by": "mcp" if is_confirmed else None,
        "confirmed_at": now if is_confirmed else None,
    }
    session().execute(_STORE_INTERACTION, values)


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
