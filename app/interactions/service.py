"""Promotion, and reading one interaction."""

import uuid
from typing import Any, NamedTuple

from sqlalchemy import select, text

from app.core import clock
from app.core.database import session, transaction
from app.core.jobs import Job, notify
from app.interactions import sql
from app.interactions.counts import COUNTED_COLUMNS, record_added, record_changed
from app.interactions.models import Interaction
from app.interactions.rules import CONFIRMED, UNCLASSIFIED

BATCH_SIZE = 5_000

_COUNTED = ", ".join(f"i.{column}" for column in COUNTED_COLUMNS)

_LOCK = text("SELECT pg_advisory_xact_lock(hashtext('interactions'))")

# No table or CTE is joined with another of unknown size: the outbox is mostly empty, so the planner expects one row.
_PROMOTE = text(f"""
    WITH claimed AS (
        DELETE FROM promotions WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM promotions ORDER BY environment_id, id LIMIT :batch_size FOR UPDATE SKIP LOCKED))
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
        RETURNING i.id, i.confirmed_by, {_COUNTED}
    ), stored_meanwhile AS (
        -- By `store_interaction`, while this statement ran: a placeholder has no surface of its own.
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
    ), changes AS ({record_changed("before", "promoted")})
    SELECT count(*) FROM claimed
""")

_INSERT_INTERACTION = text(f"""
    WITH stored AS (
        INSERT INTO interactions AS i (environment_id, id, received_at, surface, operation, classification,
            confirmed_by, confirmed_at, status_code, duration_ms, runtime_hint)
        VALUES (:environment_id, :interaction_id, :now, :surface, :operation, :classification,
            :confirmed_by, :confirmed_at, :status_code, :duration_ms, :runtime_hint)
        ON CONFLICT (environment_id, id) DO NOTHING
        RETURNING {_COUNTED}
    ), changes AS ({record_added("stored")})
    SELECT count(*) FROM stored
""")

# The first real value of a field stays, as with telemetry; a call of the product's own MCP server confirms at once.
_FILL_INTERACTION = text(f"""
    WITH before AS MATERIALIZED (
        SELECT * FROM interactions WHERE environment_id = :environment_id AND id = :interaction_id FOR UPDATE
    ), filled AS (
        UPDATE interactions i SET
            surface = CASE i.surface WHEN 'unknown' THEN :surface ELSE i.surface END,
            operation = CASE i.operation WHEN 'pending' THEN :operation ELSE i.operation END,
            classification = CASE WHEN i.surface IN ('unknown', 'mcp') AND :surface = 'mcp'
                THEN 'confirmed' ELSE i.classification END,
            confirmed_by = CASE WHEN i.surface IN ('unknown', 'mcp')
                THEN coalesce(i.confirmed_by, :confirmed_by) ELSE i.confirmed_by END,
            confirmed_at = CASE WHEN i.surface IN ('unknown', 'mcp')
                THEN coalesce(i.confirmed_at, :confirmed_at) ELSE i.confirmed_at END,
            status_code = coalesce(i.status_code, :status_code),
            duration_ms = coalesce(i.duration_ms, :duration_ms),
            runtime_hint = coalesce(i.runtime_hint, :runtime_hint)
        FROM before WHERE i.environment_id = before.environment_id AND i.id = before.id
        RETURNING {_COUNTED}
    ), changes AS ({record_changed("before", "filled")})
    SELECT count(*) FROM filled
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
    if session().execute(_INSERT_INTERACTION, values).scalar_one() == 0:
        session().execute(_FILL_INTERACTION, values)


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

    One without telemetry gets a placeholder. Promotion is one-way, so running it twice changes nothing.
    """
    total = 0
    while True:
        with transaction():
            lock_interactions()
            row_count: int = session().execute(_PROMOTE, {"batch_size": BATCH_SIZE}).scalar_one()
        total += row_count
        if row_count < BATCH_SIZE:
            return total


def find_interaction(environment_id: uuid.UUID, interaction_id: uuid.UUID) -> dict[str, Any] | None:
    """Return the stored columns of an interaction, or None."""
    table = Interaction.__table__
    statement = select(table).where(Interaction.environment_id == environment_id, Interaction.id == interaction_id)
    row = session().execute(statement).mappings().one_or_none()
    return dict(row) if row else None
