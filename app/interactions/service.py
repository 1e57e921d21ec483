"""Promotion, and reading one interaction."""

import uuid
from typing import Any

from sqlalchemy import select, text

from app.core.database import session, transaction
from app.interactions.models import Interaction

BITE = 5_000

_LOCK = text("SELECT pg_advisory_xact_lock(hashtext('interactions'))")

_PROMOTE = text("""
    WITH taken AS (
        DELETE FROM promotions p
        USING (SELECT environment_id, id FROM promotions ORDER BY environment_id, id LIMIT :bite
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
            promoted: int = session().execute(_PROMOTE, {"bite": BITE}).scalar_one()
        total += promoted
        if promoted < BITE:
            return total


def find_interaction(environment_id: uuid.UUID, interaction_id: uuid.UUID) -> dict[str, Any] | None:
    """Return what is stored of an interaction, if anything is."""
    table = Interaction.__table__
    found = select(table).where(Interaction.environment_id == environment_id, Interaction.id == interaction_id)
    row = session().execute(found).mappings().one_or_none()
    return dict(row) if row else None
