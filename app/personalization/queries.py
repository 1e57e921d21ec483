"""Read decisions and their outcomes by pages."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.core.database.pages import PagedTable


class DecisionItem(NamedTuple):
    """A decision."""

    id: uuid.UUID
    external_decision_id: str
    context_retrieval_id: uuid.UUID
    purpose: str
    signal_ids: list[str]
    variant: str | None
    created_at: datetime


class OutcomeItem(NamedTuple):
    """The outcome of a decision."""

    id: uuid.UUID
    external_outcome_id: str
    decision_id: uuid.UUID
    outcome: str
    occurred_at: datetime
    created_at: datetime


DECISIONS = PagedTable(
    "personalization_decisions",
    DecisionItem,
    {
        "id": "f.id",
        "external_decision_id": "f.external_id",
        "context_retrieval_id": "f.retrieval_id",
        "purpose": "f.purpose",
        "signal_ids": "f.signal_ids::text[]",
        "variant": "f.variant",
        "created_at": "f.created_at",
    },
    filters={},
    tenant="product_id",
    id="id",
)

OUTCOMES = PagedTable(
    "personalization_outcomes",
    OutcomeItem,
    {
        "id": "f.id",
        "external_outcome_id": "f.external_id",
        "decision_id": "f.decision_id",
        "outcome": "f.outcome",
        "occurred_at": "coalesce(f.occurred_at, f.created_at)",
        "created_at": "f.created_at",
    },
    filters={},
    tenant="product_id",
    id="id",
)


class DecisionOfRetrieval(NamedTuple):
    """A decision that was made from a retrieval, and its outcomes, oldest first."""

    retrieval_id: uuid.UUID
    external_decision_id: str
    variant: str | None
    created_at: datetime
    outcomes: list[str]


MAX_OUTCOMES = 10
"""How many of one decision are read."""

_LIST_DECISIONS_OF_RETRIEVALS = text("""
    SELECT d.retrieval_id, d.external_id, d.variant, d.created_at, ARRAY(
        SELECT o.outcome FROM personalization_outcomes o
        WHERE o.product_id = d.product_id AND o.decision_id = d.id ORDER BY o.created_at LIMIT :max_outcomes)
    FROM personalization_decisions d
    WHERE d.product_id = :product_id AND d.customer_id = :customer_id AND d.retrieval_id = ANY(:retrieval_ids)
    ORDER BY d.created_at LIMIT :limit
""")


def list_decisions_of_retrievals(
    product_id: uuid.UUID, customer_id: uuid.UUID, retrieval_ids: Sequence[uuid.UUID], limit: int
) -> list[DecisionOfRetrieval]:
    """Return the decisions about a customer that were made from some retrievals, oldest first."""
    values = {"product_id": product_id, "customer_id": customer_id, "retrieval_ids": list(retrieval_ids)}
    limits = {"limit": limit, "max_outcomes": MAX_OUTCOMES}
    return [DecisionOfRetrieval(*row) for row in session().execute(_LIST_DECISIONS_OF_RETRIEVALS, {**values, **limits})]
