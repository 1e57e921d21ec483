"""Read retrievals."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session


class RetrievalItem(NamedTuple):
    """A retrieval of a customer's context."""

    id: uuid.UUID
    purpose: str
    signal_ids: Sequence[uuid.UUID]
    created_at: datetime


_LIST_RETRIEVALS = text("""
    SELECT id, purpose, signal_ids, created_at FROM context_retrievals
    WHERE product_id = :product_id AND environment_id = :environment_id AND customer_id = :customer_id
      AND created_at BETWEEN :since AND :until
    ORDER BY created_at DESC, id LIMIT :limit
""")


def list_retrievals(
    product_id: uuid.UUID,
    environment_id: uuid.UUID,
    customer_id: uuid.UUID,
    *,
    between: tuple[datetime, datetime],
    limit: int,
) -> list[RetrievalItem]:
    """Return the newest retrievals of a customer's context between two instants, the newest first."""
    since, until = between
    values = {"product_id": product_id, "environment_id": environment_id, "customer_id": customer_id}
    rows = session().execute(_LIST_RETRIEVALS, {**values, "since": since, "until": until, "limit": limit})
    return [RetrievalItem(*row) for row in rows]
