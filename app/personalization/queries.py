"""Read decisions and their outcomes by pages."""

import uuid
from datetime import datetime
from typing import NamedTuple

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
