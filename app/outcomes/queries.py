"""Read reviews."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.core.database.pages import PagedTable
from app.interactions.feed import Feed
from app.interactions.queries import InteractionKey
from app.interactions.sql import INTERACTION_COLUMNS, JOIN_INTERACTION

REVIEWS = Feed("reviews", outcome="outcome", note="note")


class ReviewItem(NamedTuple):
    """A review, and what it is about."""

    id: uuid.UUID
    interaction_id: uuid.UUID
    outcome: str
    note: str
    operation: str
    surface: str
    created_at: datetime

    @property
    def source(self) -> str:
        """The kind of credential that sent the review: always a capability."""
        return "capability"


_COLUMNS = {name: INTERACTION_COLUMNS.get(name, f"f.{name}") for name in ReviewItem._fields}

REVIEW_PAGES = PagedTable(
    "reviews",
    ReviewItem,
    _COLUMNS,
    filters={"outcome": "f.outcome", **INTERACTION_COLUMNS},
    joins=JOIN_INTERACTION,
)


MAX_UNSUCCESSFUL_SCAN = 300
"""How many of the newest reviews are looked at for those that say failure or partial; some two milliseconds."""

_NEWEST_UNSUCCESSFUL = text(f"""
    -- Of the two outcomes, failure comes first in the alphabet as well.
    SELECT DISTINCT ON (operation) * FROM (
        SELECT {", ".join(f"{_COLUMNS[name]} AS {name}" for name in ReviewItem._fields)}
        FROM (
            SELECT * FROM reviews
            WHERE environment_id = :environment_id AND created_at >= :since ORDER BY created_at DESC LIMIT :scan_limit
        ) f {JOIN_INTERACTION}
        WHERE f.outcome <> 'success'
    ) unsuccessful
    WHERE operation = ANY(CAST(:operations AS text[])) ORDER BY operation, outcome, created_at DESC
""")


def list_newest_unsuccessful(
    environment_id: uuid.UUID, since: datetime, operations: Sequence[str]
) -> dict[str, ReviewItem]:
    """Return the newest review of each of some operations that says failure, or else the newest that says partial.

    They are looked for among the newest `MAX_UNSUCCESSFUL_SCAN` reviews.
    """
    values = {
        "environment_id": environment_id,
        "since": since,
        "operations": list(operations),
        "scan_limit": MAX_UNSUCCESSFUL_SCAN,
    }
    rows = [ReviewItem(*row) for row in session().execute(_NEWEST_UNSUCCESSFUL, values)]
    return {row.operation: row for row in rows}


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


_NEWEST_REVIEW = text("""
    SELECT created_at FROM reviews WHERE environment_id = :environment_id ORDER BY created_at DESC LIMIT 1
""")


def find_newest_review_at(environment_id: uuid.UUID) -> datetime | None:
    """Return when the newest review arrived, or None."""
    created_at: datetime | None = session().scalar(_NEWEST_REVIEW, {"environment_id": environment_id})
    return created_at
