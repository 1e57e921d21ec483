"""Read reviews."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.interactions.feed import Feed
from app.interactions.queries import InteractionKey

REVIEWS = Feed("reviews", outcome="outcome", note="note")

_LIST_REVIEWS = text("""
    SELECT r.environment_id, r.interaction_id, r.id, r.outcome, r.note, r.created_at
    FROM unnest(CAST(:environments AS uuid[]), CAST(:interactions AS uuid[])) AS key (environment_id, interaction_id)
    JOIN reviews r ON r.environment_id = key.environment_id AND r.interaction_id = key.interaction_id
""")


class ReviewRow(NamedTuple):
    """A review with its environment."""

    environment_id: uuid.UUID
    interaction_id: uuid.UUID
    id: uuid.UUID
    outcome: str
    note: str
    created_at: datetime


def list_reviews(keys: Sequence[InteractionKey]) -> dict[InteractionKey, ReviewRow]:
    """Return the reviews that are stored, by the keys of their interactions."""
    values = {"environments": [environment for environment, _ in keys], "interactions": [id_ for _, id_ in keys]}
    rows = [ReviewRow(*row) for row in session().execute(_LIST_REVIEWS, values)]
    return {(row.environment_id, row.interaction_id): row for row in rows}
