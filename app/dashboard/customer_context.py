"""What is known of the customer of an interaction: what was answered in it, and what the company used."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.context.queries import RetrievalItem, list_retrievals_between
from app.dashboard.scope import Scope
from app.enrichment.queries import (
    RequestSummary,
    find_closed_at,
    find_request_summary,
)
from app.enrichment.signals import SignalItem, list_interaction_signals
from app.personalization.queries import DecisionOfRetrieval, list_decisions_of_retrievals

BEFORE, AFTER = timedelta(days=1), timedelta(hours=2)
"""How far a retrieval may be from an interaction to be shown with it; a request is open for two hours."""

MAX_RETRIEVALS = 10
MAX_DECISIONS = 20


@dataclass(frozen=True, slots=True)
class UsedRetrieval:
    """A retrieval, and the decisions that were made from it."""

    retrieval: RetrievalItem
    decisions: Sequence[DecisionOfRetrieval]


@dataclass(frozen=True, slots=True)
class CustomerContext:
    """The context of an interaction's customer."""

    request: RequestSummary | None
    closed_at: datetime | None
    """When its request was closed; the request itself is kept for two hours."""
    signals: Sequence[SignalItem]
    """Answered in this interaction."""
    retrievals: Sequence[UsedRetrieval]
    """Of the same customer, around the time of the interaction."""


def find_customer_context(scope: Scope, interaction_id: uuid.UUID, at: datetime) -> CustomerContext:
    """Return what is stored of the customer of an interaction that took place at an instant."""
    product_id, environment_id = scope.product.id, scope.environment.id
    request = find_request_summary(environment_id, interaction_id)
    signals = list_interaction_signals(product_id, environment_id, interaction_id)
    customers = [source.customer_id for source in (request, *signals) if source and source.customer_id]
    return CustomerContext(
        request=request,
        closed_at=None if request else find_closed_at(environment_id, interaction_id),
        signals=signals,
        retrievals=_list_retrievals(scope, customers[0], at) if customers else [],
    )


def _list_retrievals(scope: Scope, customer_id: uuid.UUID, at: datetime) -> list[UsedRetrieval]:
    product_id, since = scope.product.id, at - BEFORE
    retrievals = list_retrievals_between(
        product_id, scope.environment.id, customer_id, between=(since, at + AFTER), limit=MAX_RETRIEVALS
    )
    ids = [retrieval.id for retrieval in retrievals]
    # No decision is older than its retrieval.
    decisions = (
        list_decisions_of_retrievals(product_id, customer_id, ids, since=since, limit=MAX_DECISIONS) if ids else []
    )
    return [
        UsedRetrieval(retrieval, [decision for decision in decisions if decision.retrieval_id == retrieval.id])
        for retrieval in retrievals
    ]
