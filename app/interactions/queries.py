"""Read interactions: by pages, and by their ids."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.core.database.pages import PagedTable
from app.interactions.rules import PENDING_OPERATION


class InteractionItem(NamedTuple):
    """An interaction as it is now."""

    interaction_id: uuid.UUID
    surface: str
    operation: str
    classification: str
    confirmation_method: str | None
    confirmed_at: datetime | None
    received_at: datetime
    occurred_at: datetime | None
    status_code: int | None
    duration_ms: float | None
    customer_ref: str | None
    runtime_hint: str | None
    runtime_hint_source: str | None
    session_ref: str | None
    session_source: str | None
    outcome: str | None = None


ITEM_COLUMNS = {
    name: {"interaction_id": "f.id", "confirmation_method": "f.confirmed_by"}.get(name, f"f.{name}")
    for name in InteractionItem._fields
}

INTERACTIONS = PagedTable(
    "interactions",
    InteractionItem,
    ITEM_COLUMNS,
    filters={"operation": "f.operation", "classification": "f.classification", "surface": "f.surface"},
    instant="received_at",
    id="id",
)

DETAILED_INTERACTIONS = PagedTable(
    "interactions",
    InteractionItem,
    ITEM_COLUMNS,
    filters={
        **INTERACTIONS.filters,
        "outcome": "f.outcome",
        "status": "f.status_code / 100 || 'xx'",
        "customer_ref": "f.customer_ref",
    },
    instant="received_at",
    id="id",
)
"""The same with further filters."""

_OLDEST_PROMOTION = text(
    "SELECT created_at FROM promotions WHERE environment_id = :environment_id ORDER BY environment_id, id LIMIT 1"
)


def find_oldest_promotion_at(environment_id: uuid.UUID) -> datetime | None:
    """Return when the promotion that has waited longest was queued, to within a commit's delay; None for none."""
    created_at: datetime | None = session().scalar(_OLDEST_PROMOTION, {"environment_id": environment_id})
    return created_at


# Behind this many placeholders of reviews, which no telemetry has filled, nothing is looked for.
_NEWEST_TELEMETRY = text("""
    SELECT max(received_at) FROM (
        SELECT received_at, occurred_at FROM interactions WHERE environment_id = :environment_id
        ORDER BY received_at DESC LIMIT 200
    ) newest WHERE occurred_at IS NOT NULL
""")


def find_newest_telemetry_at(environment_id: uuid.UUID) -> datetime | None:
    """Return when the newest interaction arrived that telemetry has told of, or None."""
    received_at: datetime | None = session().scalar(_NEWEST_TELEMETRY, {"environment_id": environment_id})
    return received_at


InteractionKey = tuple[uuid.UUID, uuid.UUID]
"""The ids of an environment and of an interaction."""

_LIST_SUMMARIES = text("""
    SELECT i.environment_id, i.id, i.surface, i.operation, i.status_code, i.duration_ms,
           i.confirmed_by, i.confirmed_at, i.occurred_at
    FROM unnest(CAST(:environments AS uuid[]), CAST(:ids AS uuid[])) AS key (environment_id, id)
    JOIN interactions i ON i.environment_id = key.environment_id AND i.id = key.id
""")


class InteractionSummary(NamedTuple):
    """What an agent used, without anything that an agent or a customer is recognised by."""

    environment_id: uuid.UUID
    id: uuid.UUID
    surface: str
    operation: str
    status_code: int | None
    duration_ms: float | None
    confirmed_by: str | None
    confirmed_at: datetime | None
    occurred_at: datetime | None

    @property
    def known_operation(self) -> str | None:
        """The operation, or None until telemetry has named it."""
        return None if self.operation == PENDING_OPERATION else self.operation


def list_summaries(keys: Sequence[InteractionKey]) -> dict[InteractionKey, InteractionSummary]:
    """Return the interactions that are stored, by their keys."""
    values = {"environments": [environment_id for environment_id, _ in keys], "ids": [id_ for _, id_ in keys]}
    rows = [InteractionSummary(*row) for row in session().execute(_LIST_SUMMARIES, values)]
    return {(row.environment_id, row.id): row for row in rows}


LATENCY_SAMPLE = 10_000
"""Interactions that percentiles are taken over: reading so many takes some ten milliseconds."""

_LIST_LATENCIES = text("""
    SELECT operation, count(*) AS observations,
           percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY duration_ms) AS percentiles
    FROM (
        SELECT operation, surface, duration_ms FROM interactions
        WHERE environment_id = :environment_id AND received_at >= :since ORDER BY received_at DESC LIMIT :sample
    ) newest
    WHERE operation = ANY(CAST(:operations AS text[])) AND duration_ms IS NOT NULL
      AND (CAST(:surface AS text) IS NULL OR surface = :surface)
    GROUP BY operation
""")


class Latency(NamedTuple):
    """How long an operation took, in milliseconds."""

    observations: int
    p50: float
    p95: float


def list_latencies(
    environment_id: uuid.UUID, since: datetime, operations: Sequence[str], surface: str | None = None
) -> dict[str, Latency]:
    """Return the latencies of operations that are among the newest `LATENCY_SAMPLE` interactions of the environment."""
    values = {
        "environment_id": environment_id,
        "since": since,
        "operations": list(operations),
        "surface": surface,
        "sample": LATENCY_SAMPLE,
    }
    rows = session().execute(_LIST_LATENCIES, values)
    return {operation: Latency(observations, *percentiles) for operation, observations, percentiles in rows}


_NEWEST_RECEIVED = text(
    "SELECT received_at FROM interactions WHERE environment_id = :environment_id ORDER BY received_at DESC LIMIT 1"
)


def find_newest_received_at(environment_id: uuid.UUID) -> datetime | None:
    """Return when the newest interaction arrived; None for none."""
    received_at: datetime | None = session().scalar(_NEWEST_RECEIVED, {"environment_id": environment_id})
    return received_at


_FIND_ENVIRONMENT = text("""
    SELECT environment_id FROM interactions
    WHERE environment_id = ANY(CAST(:environment_ids AS uuid[])) AND id = :interaction_id LIMIT 1
""")


def find_environment_of(environment_ids: Sequence[uuid.UUID], interaction_id: uuid.UUID) -> uuid.UUID | None:
    """Return which of these environments has an interaction, or None."""
    values = {"environment_ids": list(environment_ids), "interaction_id": interaction_id}
    environment_id: uuid.UUID | None = session().execute(_FIND_ENVIRONMENT, values).scalar()
    return environment_id
