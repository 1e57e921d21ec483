"""Read signals: of a customer, and of an interaction."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core import clock
from app.core.database import session


class SignalItem(NamedTuple):
    """A signal that may still be used, with where and how it was told."""

    id: uuid.UUID
    environment_id: uuid.UUID
    interaction_id: uuid.UUID
    customer_id: uuid.UUID | None
    purpose: str
    key: str
    value: str
    summary: str
    provenance: str
    confidence: float | None
    remembered: bool
    created_at: datetime
    expires_at: datetime


MAX_SIGNALS = 50
"""How many of one interaction are read; an answer has eight at most."""

_COLUMNS = ", ".join(SignalItem._fields)

_LIST_SIGNALS = text(f"""
    SELECT {_COLUMNS} FROM signals
    WHERE product_id = :product_id AND customer_id = :customer_id AND expires_at > :now
    ORDER BY created_at DESC, id LIMIT :limit
""")

_LIST_INTERACTION_SIGNALS = text(f"""
    SELECT {_COLUMNS} FROM signals
    WHERE product_id = :product_id AND environment_id = :environment_id AND interaction_id = :interaction_id
      AND expires_at > :now
    ORDER BY created_at, key LIMIT :limit
""")

_COUNT_SIGNALS = text("""
    SELECT c.id, (
        SELECT count(*) FROM (
            SELECT FROM signals s
            WHERE s.product_id = :product_id AND s.customer_id = c.id AND s.expires_at > :now LIMIT :at_most
        ) AS counted
    ) AS signals FROM unnest(CAST(:customer_ids AS uuid[])) AS c (id)
""")


def list_signals(product_id: uuid.UUID, customer_id: uuid.UUID, limit: int) -> list[SignalItem]:
    """Return a customer's newest signals."""
    values = {"product_id": product_id, "customer_id": customer_id, "now": clock.now(), "limit": limit}
    return [SignalItem(*row) for row in session().execute(_LIST_SIGNALS, values)]


def list_interaction_signals(
    product_id: uuid.UUID, environment_id: uuid.UUID, interaction_id: uuid.UUID
) -> list[SignalItem]:
    """Return the signals that were answered in an interaction and have not expired."""
    values = {"product_id": product_id, "environment_id": environment_id, "interaction_id": interaction_id}
    rows = session().execute(_LIST_INTERACTION_SIGNALS, {**values, "now": clock.now(), "limit": MAX_SIGNALS})
    return [SignalItem(*row) for row in rows]


def count_signals(product_id: uuid.UUID, customer_ids: Sequence[uuid.UUID], at_most: int) -> dict[uuid.UUID, int]:
    """Return how many signals each of some customers has, counted up to a bound."""
    values = {"product_id": product_id, "customer_ids": list(customer_ids), "now": clock.now(), "at_most": at_most}
    return {row.id: row.signals for row in session().execute(_COUNT_SIGNALS, values)}
