"""Read reviews and reports by pages, newest first or in order of arrival."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import TextClause, text

from app.core.database import session
from app.interactions.rules import PENDING_OPERATION


class FeedItem(NamedTuple):
    """One review or report; the first three members are its cursor."""

    created_at: datetime
    environment_id: uuid.UUID
    interaction_id: uuid.UUID
    outcome: str | None
    note: str
    operation: str


@dataclass(frozen=True, slots=True)
class FeedCriteria:
    """Which items to read; None is any."""

    environment_ids: list[uuid.UUID]
    outcome: str | None = None
    operation: str | None = None


class Feed:
    """The rows of a table that has environment_id, interaction_id, created_at, and columns for `outcome` and `note`.

    Every environment is read by its own index on created_at, so that a page costs as much as it has rows.
    """

    def __init__(self, table: str, *, outcome: str, note: str) -> None:
        self._newest = _statement(table, outcome, note, "DESC")
        self._after = _statement(table, outcome, note, "ASC")

    def list_newest(self, criteria: FeedCriteria, limit: int) -> list[FeedItem]:
        """Return the newest items, the newest first."""
        return self._list(self._newest, criteria, limit, None)

    def list_after(self, criteria: FeedCriteria, limit: int, cursor: FeedItem | datetime) -> list[FeedItem]:
        """Return the oldest items after an item or an instant, the oldest first."""
        return self._list(self._after, criteria, limit, cursor)

    def _list(
        self, statement: TextClause, criteria: FeedCriteria, limit: int, cursor: FeedItem | datetime | None
    ) -> list[FeedItem]:
        item = cursor if isinstance(cursor, FeedItem) else None
        values = {
            "environment_ids": criteria.environment_ids,
            "outcome": criteria.outcome,
            "operation": criteria.operation,
            "pending": PENDING_OPERATION,
            "limit": limit,
            "created_at": item.created_at if item else cursor,
            "environment_id": item.environment_id if item else uuid.UUID(int=0),
            "interaction_id": item.interaction_id if item else uuid.UUID(int=0),
        }
        return [FeedItem(*row) for row in session().execute(statement, values)]


def _statement(table: str, outcome: str, note: str, direction: str) -> TextClause:
    after_condition = """
        AND f.created_at >= :created_at
        AND (f.created_at, f.environment_id, f.interaction_id) > (:created_at, :environment_id, :interaction_id)
    """
    return text(f"""
        SELECT page.* FROM unnest(CAST(:environment_ids AS uuid[])) AS environment (id)
        CROSS JOIN LATERAL (
            SELECT f.created_at, f.environment_id, f.interaction_id, f.{outcome} AS outcome, f.{note} AS note,
                   coalesce(i.operation, :pending) AS operation
            FROM {table} f
            -- OFFSET 0 keeps it a look-up for each item: a join of both tables would read all of them before the limit.
            LEFT JOIN LATERAL (
                SELECT operation FROM interactions
                WHERE environment_id = f.environment_id AND id = f.interaction_id OFFSET 0
            ) i ON true
            WHERE f.environment_id = environment.id
              AND (CAST(:outcome AS text) IS NULL OR f.{outcome} = :outcome)
              AND (CAST(:operation AS text) IS NULL OR coalesce(i.operation, :pending) = :operation)
              {after_condition if direction == "ASC" else ""}
            ORDER BY f.created_at {direction}, f.interaction_id {direction} LIMIT :limit
        ) page
        ORDER BY created_at {direction}, environment_id {direction}, interaction_id {direction} LIMIT :limit
    """)
