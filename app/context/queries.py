"""Read the retrievals of a customer's context."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session


class RetrievalItem(NamedTuple):
    """A retrieval of a customer's context, and the signals that it returned."""

    id: uuid.UUID
    environment_id: uuid.UUID
    purpose: str
    signal_ids: Sequence[uuid.UUID]
    created_at: datetime


_OF_CUSTOMER = f"""
    SELECT {", ".join(RetrievalItem._fields)} FROM context_retrievals
    WHERE product_id = :product_id AND customer_id = :customer_id
"""
_LIST_RETRIEVALS = text(f"{_OF_CUSTOMER} ORDER BY created_at DESC, id LIMIT :limit")
_LIST_RETRIEVALS_BETWEEN = text(f"""
    {_OF_CUSTOMER} AND environment_id = :environment_id AND created_at BETWEEN :since AND :until
    ORDER BY created_at DESC, id LIMIT :limit
""")


def list_retrievals(product_id: uuid.UUID, customer_id: uuid.UUID, limit: int) -> list[RetrievalItem]:
    """Return a customer's newest retrievals, the newest first."""
    values = {"product_id": product_id, "customer_id": customer_id, "limit": limit}
    return [RetrievalItem(*row) for row in session().execute(_LIST_RETRIEVALS, values)]


def list_retrievals_between(
    product_id: uuid.UUID,
    environment_id: uuid.UUID,
    customer_id: uuid.UUID,
    *,
    between: tuple[datetime, datetime],
    limit: int,
) -> list[RetrievalItem]:
    """Return a customer's newest retrievals of an environment between two instants, the newest first."""
    since, until = between
    values = {"product_id": product_id, "environment_id": environment_id, "customer_id": customer_id}
    rows = session().execute(_LIST_RETRIEVALS_BETWEEN, {**values, "since": since, "until": until, "limit": limit})
    return [RetrievalItem(*row) for row in rows]
