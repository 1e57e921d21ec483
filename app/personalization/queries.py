"""Read decisions and their outcomes: by pages, of one customer, and as counts."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.core.database.pages import PagedTable
from app.personalization.rules import OUTCOMES as OUTCOME_NAMES


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


_DECISION_COLUMNS = {
    **{name: f"f.{name}" for name in DecisionItem._fields},
    "external_decision_id": "f.external_id",
    "context_retrieval_id": "f.retrieval_id",
    "signal_ids": "f.signal_ids::text[]",
}

DECISIONS = PagedTable(
    "personalization_decisions",
    DecisionItem,
    _DECISION_COLUMNS,
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


class DecisionWithOutcome(NamedTuple):
    """A decision with its last outcome, if it has any."""

    id: uuid.UUID
    external_decision_id: str
    context_retrieval_id: uuid.UUID
    purpose: str
    signal_ids: list[str]
    variant: str | None
    created_at: datetime
    outcome: str | None
    occurred_at: datetime | None


_LAST_FIRST = "coalesce(o.occurred_at, o.created_at) DESC, o.id"

DECISIONS_WITH_OUTCOMES = PagedTable(
    "personalization_decisions",
    DecisionWithOutcome,
    {**_DECISION_COLUMNS, "outcome": "o.outcome", "occurred_at": "coalesce(o.occurred_at, o.created_at)"},
    filters={"purpose": "f.purpose", "variant": "f.variant", "outcome": "o.outcome"},
    tenant="product_id",
    id="id",
    joins=f"""
        LEFT JOIN LATERAL (
            SELECT o.outcome, o.occurred_at, o.created_at FROM personalization_outcomes o
            WHERE o.product_id = f.product_id AND o.decision_id = f.id ORDER BY {_LAST_FIRST} LIMIT 1
        ) o ON true
    """,
)

COUNTED_DECISIONS = 10_000
"""Decisions that are looked at to count them, the newest ones: finding their outcomes takes some fifty milliseconds."""

MAX_GROUPS = 300

# The purpose is compared behind the limit: of a rare one, all decisions of the days would be read to find enough.
_COUNT_GROUPS = text(f"""
    WITH newest AS (
        SELECT id, purpose, variant, signal_ids <> '{{}}' AS has_context FROM personalization_decisions
        WHERE product_id = :product_id AND created_at >= :since ORDER BY created_at DESC LIMIT :decisions
    )
    SELECT (SELECT count(*) FROM newest), GROUPING(variant) = 0, GROUPING(has_context) = 0, variant, has_context,
           count(*), {", ".join(f"count(*) FILTER (WHERE outcome = '{name}')" for name in OUTCOME_NAMES)}
    FROM newest LEFT JOIN LATERAL (
        SELECT o.outcome FROM personalization_outcomes o
        WHERE o.product_id = :product_id AND o.decision_id = newest.id ORDER BY {_LAST_FIRST} LIMIT 1
    ) o ON true
    WHERE CAST(:purpose AS text) IS NULL OR purpose = :purpose
    -- The last set is of one row, also where there is no decision.
    GROUP BY GROUPING SETS ((variant), (has_context), (variant, has_context), ())
    -- What belongs to few decisions is left out first, never a part of a count.
    ORDER BY count(*) DESC, GROUPING(has_context) DESC, GROUPING(variant) DESC, variant, has_context LIMIT :groups
""")


class GroupCounts(NamedTuple):
    """The decisions of a group, and how many have each outcome as their last."""

    is_of_variant: bool
    """Whether the group has one variant; None is the group of decisions without one."""
    variant: str | None
    has_context: bool | None
    """Whether its decisions were made from signals; None is both."""
    decisions: int
    outcomes: dict[str, int]


class Groups(NamedTuple):
    """The groups of the decisions that were looked at, the largest first, and whether these are all."""

    counts: list[GroupCounts]
    is_complete: bool


def count_groups(product_id: uuid.UUID, since: datetime, purpose: str | None = None) -> Groups:
    """Count those of the newest decisions that have a purpose by variant, by context, and by both."""
    values = {
        "product_id": product_id,
        "since": since,
        "purpose": purpose,
        "decisions": COUNTED_DECISIONS,
        "groups": MAX_GROUPS + 1,
    }
    rows = session().execute(_COUNT_GROUPS, values).all()
    counts = [
        GroupCounts(is_of_variant, variant, has_context, decisions, dict(zip(OUTCOME_NAMES, outcomes, strict=True)))
        for _, is_of_variant, is_of_context, variant, has_context, decisions, *outcomes in rows
        if is_of_variant or is_of_context
    ]
    return Groups(counts, rows[0][0] < COUNTED_DECISIONS)


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
    WHERE d.product_id = :product_id AND d.customer_id = :customer_id AND d.created_at >= :since
      AND d.retrieval_id = ANY(:retrieval_ids)
    ORDER BY d.created_at LIMIT :limit
""")


def list_decisions_of_retrievals(
    product_id: uuid.UUID, customer_id: uuid.UUID, retrieval_ids: Sequence[uuid.UUID], *, since: datetime, limit: int
) -> list[DecisionOfRetrieval]:
    """Return the decisions about a customer, none before `since`, that were made from some retrievals, oldest first."""
    values = {"product_id": product_id, "customer_id": customer_id, "retrieval_ids": list(retrieval_ids)}
    limits = {"since": since, "limit": limit, "max_outcomes": MAX_OUTCOMES}
    return [DecisionOfRetrieval(*row) for row in session().execute(_LIST_DECISIONS_OF_RETRIEVALS, {**values, **limits})]
