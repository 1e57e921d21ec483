"""Read stored requests and signals, and count how often fields were asked for and answered."""

import uuid
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from app.core import clock
from app.core.database import PreparedStatement, session
from app.enrichment.sql import field_counts
from app.products.sql import retention_days


class StoredRequest(NamedTuple):
    """A request as it is stored, with the retention of its environment."""

    environment_id: uuid.UUID
    interaction_id: uuid.UUID
    id: uuid.UUID
    product_id: uuid.UUID
    customer_id: uuid.UUID | None
    identity_level: str
    key_id: str
    fingerprint: memoryview
    surface: str
    purpose: str
    remember: bool
    state: str
    catalog_version: str
    catalog_hash: str
    catalog: list[dict[str, Any]]
    withheld_keys: list[str]
    expires_at: datetime
    answered_as: str | None
    answer_fingerprint: memoryview | None
    receipt: list[dict[str, Any]] | None
    retention_days: int


_COLUMNS = ", ".join(f"r.{name}" for name in StoredRequest._fields if name != "retention_days")
_COLUMNS += f", {retention_days('r.environment_id')} AS retention_days"

FIND_REQUEST = PreparedStatement(
    "find_request",
    f"SELECT {_COLUMNS} FROM enrichment_requests r WHERE r.id = :request_id::uuid",
    row=StoredRequest,
)

FIND_REQUEST_OF_INTERACTION = PreparedStatement(
    "find_request_of_interaction",
    f"""
    SELECT {_COLUMNS} FROM enrichment_requests r
    WHERE r.environment_id = :environment_id::uuid AND r.interaction_id = :interaction_id::uuid
    """,
    row=StoredRequest,
)


class FieldUse(NamedTuple):
    """How many requests asked for a field for a purpose, and how many of them were answered with it."""

    key: str
    purpose: str
    asked: int
    answered: int


MAX_FIELD_USES = 1_000
"""More than the fields that a product can have at a time, for each of their purposes."""

# No common table expression, which would be written to a file where there are thousands.
_OPEN_REQUESTS = "(SELECT * FROM enrichment_requests WHERE environment_id = :environment_id)"

# What has left the table of requests, which is after two hours, and what is still there.
_FIELD_USES = text(f"""
    SELECT key, purpose, sum(asked)::bigint AS asked, sum(answered)::bigint AS answered
    FROM (
        SELECT key, purpose, asked, answered FROM field_days
        WHERE environment_id = :environment_id AND day_on >= :first_on
        UNION ALL
        SELECT key, purpose, asked, answered FROM ({field_counts(_OPEN_REQUESTS)}) counted WHERE day_on >= :first_on
    ) used
    GROUP BY key, purpose ORDER BY key, purpose LIMIT {MAX_FIELD_USES}
""")


def list_field_uses(environment_id: uuid.UUID, first_on: date) -> list[FieldUse]:
    """Return how often fields were asked for and answered in an environment, since a day."""
    values = {"environment_id": environment_id, "first_on": first_on}
    return [FieldUse(*row) for row in session().execute(_FIELD_USES, values)]


class SignalItem(NamedTuple):
    """A signal that may still be used, with where and how it was told."""

    id: uuid.UUID
    environment_id: uuid.UUID
    interaction_id: uuid.UUID
    purpose: str
    key: str
    value: str
    summary: str
    provenance: str
    confidence: float | None
    remembered: bool
    created_at: datetime
    expires_at: datetime


class RequestItem(NamedTuple):
    """A request whose two hours are not over, and how many signals its receipt lists."""

    id: uuid.UUID
    environment_id: uuid.UUID
    interaction_id: uuid.UUID
    purpose: str
    operation: str
    state: str
    remember: bool
    receipt_items: int | None
    created_at: datetime


_OF_CUSTOMER = "product_id = :product_id AND customer_id = :customer_id AND expires_at > :now"

_SIGNALS = text(f"""
    SELECT {", ".join(SignalItem._fields)} FROM signals WHERE {_OF_CUSTOMER} ORDER BY created_at DESC, id LIMIT :limit
""")

_REQUESTS = text(f"""
    SELECT id, environment_id, interaction_id, purpose, operation, state, remember,
           jsonb_array_length(receipt) AS receipt_items, created_at
    FROM enrichment_requests WHERE {_OF_CUSTOMER} ORDER BY created_at DESC, id LIMIT :limit
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
    return [SignalItem(*row) for row in session().execute(_SIGNALS, values)]


def list_requests(product_id: uuid.UUID, customer_id: uuid.UUID, limit: int) -> list[RequestItem]:
    """Return a customer's newest requests."""
    values = {"product_id": product_id, "customer_id": customer_id, "now": clock.now(), "limit": limit}
    return [RequestItem(*row) for row in session().execute(_REQUESTS, values)]


def count_signals(product_id: uuid.UUID, customer_ids: Sequence[uuid.UUID], at_most: int) -> dict[uuid.UUID, int]:
    """Return how many signals each of some customers has, counted up to a bound."""
    values = {"product_id": product_id, "customer_ids": list(customer_ids), "now": clock.now(), "at_most": at_most}
    return {row.id: row.signals for row in session().execute(_COUNT_SIGNALS, values)}
