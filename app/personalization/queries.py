"""Read decisions and their outcomes, by pages or of one customer."""

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

_DECISIONS_OF_CUSTOMER = text("""
    SELECT id, external_id, retrieval_id, purpose, signal_ids::text[] AS signal_ids, variant, created_at
    FROM personalization_decisions
    WHERE product_id = :product_id AND customer_id = :customer_id ORDER BY created_at DESC LIMIT :limit
""")

_OUTCOMES_OF_DECISIONS = text("""
    SELECT id, external_id, decision_id, outcome, coalesce(occurred_at, created_at) AS occurred_at, created_at
    FROM personalization_outcomes
    WHERE product_id = :product_id AND decision_id = ANY(:decision_ids) ORDER BY created_at DESC, id LIMIT :limit
""")


def list_decisions_of(product_id: uuid.UUID, customer_id: uuid.UUID, limit: int) -> list[DecisionItem]:
    """Return the newest decisions about a customer."""
    values = {"product_id": product_id, "customer_id": customer_id, "limit": limit}
    return [DecisionItem(*row) for row in session().execute(_DECISIONS_OF_CUSTOMER, values)]


def list_outcomes_of(product_id: uuid.UUID, decision_ids: Sequence[uuid.UUID], limit: int) -> list[OutcomeItem]:
    """Return the newest outcomes of some decisions."""
    values = {"product_id": product_id, "decision_ids": list(decision_ids), "limit": limit}
    return [OutcomeItem(*row) for row in session().execute(_OUTCOMES_OF_DECISIONS, values)]
