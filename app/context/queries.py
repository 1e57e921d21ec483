"""Read the retrievals of a customer's context."""

import uuid
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session


class RetrievalItem(NamedTuple):
    """One retrieval, and the signals that it returned."""

    id: uuid.UUID
    environment_id: uuid.UUID
    purpose: str
    signal_ids: list[str]
    created_at: datetime


_OF_CUSTOMER = text("""
    SELECT id, environment_id, purpose, signal_ids::text[] AS signal_ids, created_at FROM context_retrievals
    WHERE product_id = :product_id AND customer_id = :customer_id ORDER BY created_at DESC LIMIT :limit
""")


def list_retrievals(product_id: uuid.UUID, customer_id: uuid.UUID, limit: int) -> list[RetrievalItem]:
    """Return a customer's newest retrievals."""
    values = {"product_id": product_id, "customer_id": customer_id, "limit": limit}
    return [RetrievalItem(*row) for row in session().execute(_OF_CUSTOMER, values)]
