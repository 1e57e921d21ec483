"""Promotion, and reading one interaction."""

import uuid
from typing import Any, NamedTuple

from sqlalchemy import select, text

from app.core import clock
from app.core.database import session, transaction
from app.core.jobs import Job, notify
from app.interactions.models import Interaction
from app.interactions.rules import CONFIRMED, UNCLASSIFIED

BATCH_SIZE = 5_000

_LOCK = text("SELECT pg_advisory_xact_lock(hashtext('interactions'))")

_PROMOTE = text("""
    WITH taken AS (
        DELETE FROM promotions p
        USING (SELECT environment_id, id FROM promotions ORDER BY environment_id, id LIMIT :batch_size
               FOR UPDATE SKIP LOCKED) waiting
        WHERE p.environment_id = waiting.environment_id AND p.id = waiting.id
        RETURNING p.environment_id, p.interaction_id, p.method, p.noted_at
    ), earliest AS (
        SELECT DISTINCT ON (environment_id, interaction_id) environment_id, interaction_id, method, noted_at
        FROM taken ORDER BY environment_id, interaction_id, noted_at
    ), promoted AS (
        INSERT INTO interactions AS i
            (environment_id, id, received_at, surface, operation, classification, confirmed_by, confirmed_at)
        SELECT environment_id, interaction_id, noted_at, 'unknown', 'pending', 'confirmed', method, noted_at
        FROM earliest
        ON CONFLICT (environment_id, id) DO UPDATE
            SET classification = 'confirmed', confirmed_by = excluded.confirmed_by, confirmed_at = excluded.confirmed_at
            WHERE i.classification <> 'confirmed'
        RETURNING i.environment_id, i.received_at
    ), marked AS (
        INSERT INTO day_marks (environment_id, day_on)
        SELECT DISTINCT environment_id, (at AT TIME ZONE 'UTC')::date
        FROM (SELECT environment_id, received_at AS at FROM promoted
              UNION ALL
              -- One that was confirmed before has a review now; its day counts that too.
              SELECT i.environment_id, i.received_at FROM interactions i
              JOIN earliest e ON e.environment_id = i.environment_id AND e.interaction_id = i.id) touched
    )
    SELECT count(*) FROM taken
""")


# The first real value of a field stays, as with telemetry; a call of the product's own MCP server confirms at once.
_NOTE = text("""
    WITH noted AS (
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
        RETURNING environment_id, received_at
    )
    INSERT INTO day_marks (environment_id, day_on)
    SELECT environment_id, (received_at AT TIME ZONE 'UTC')::date FROM noted
""")

_NOTE_ANSWER = text("""
    INSERT INTO promotions (environment_id, interaction_id, method, noted_at)
    VALUES (:environment_id, :interaction_id, 'answer', :now)
""")


class Opportunity(NamedTuple):
    """A product response that a company tells of while it asks for context."""

    interaction_id: uuid.UUID
    surface: str
    operation: str
    status_code: int | None
    duration_ms: float | None
    runtime_hint: str | None


def note_opportunity(environment_id: uuid.UUID, noted: Opportunity) -> None:
    """Write an interaction down, or fill in what is not known of it yet.

    It touches one row and waits for nothing after that, so it need not write alone.
    """
    now, is_confirmed = clock.now(), noted.surface == "mcp"
    values = {
        **noted._asdict(),
        "environment_id": environment_id,
        "now": now,
        "classification": CONFIRMED if is_confirmed else UNCLASSIFIED,
        "confirmed_by": "mcp" if is_confirmed else None,
        "confirmed_at": now if is_confirmed else None,
    }
    session().execute(_NOTE, values)


def note_answer(environment_id: uuid.UUID, interaction_id: uuid.UUID) -> None:
    """Note that an agent has answered, and ring for the promotion of its interaction."""
    session().execute(
        _NOTE_ANSWER, {"environment_id": environment_id, "interaction_id": interaction_id, "now": clock.now()}
    )
    notify(Job.PROMOTE_INTERACTIONS)


def write_alone() -> None:
    """Wait until nobody else writes interactions: two writers that meet in the same rows could stop each other."""
    session().execute(_LOCK)


def promote_waiting() -> int:
    """Confirm every interaction that has a note; returns how many notes there were.

    One that telemetry has not told of yet gets a placeholder. Promotion is one-way, so doing it twice changes nothing.
    """
    total = 0
    while True:
        with transaction():
            write_alone()
            promoted: int = session().execute(_PROMOTE, {"batch_size": BATCH_SIZE}).scalar_one()
        total += promoted
        if promoted < BATCH_SIZE:
            return total


def find_interaction(environment_id: uuid.UUID, interaction_id: uuid.UUID) -> dict[str, Any] | None:
    """Return what is stored of an interaction, if anything is."""
    table = Interaction.__table__
    found = select(table).where(Interaction.environment_id == environment_id, Interaction.id == interaction_id)
    row = session().execute(found).mappings().one_or_none()
    return dict(row) if row else None
