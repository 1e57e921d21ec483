"""Read reviews."""

import uuid
from datetime import datetime
from typing import NamedTuple

from app.core.database.pages import PagedTable
from app.interactions.feed import Feed
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


REVIEW_PAGES = PagedTable(
    "reviews",
    ReviewItem,
    {name: INTERACTION_COLUMNS.get(name, f"f.{name}") for name in ReviewItem._fields},
    filters={"outcome": "f.outcome", **INTERACTION_COLUMNS},
    joins=JOIN_INTERACTION,
)
