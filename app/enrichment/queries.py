"""Read stored requests and signals, and count how often fields were asked for and answered."""

import uuid
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from app.core import clock
from app.core.database import PreparedStatement, session
from app.customers.sql import writable_customer
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

LOCK_CUSTOMER = PreparedStatement("lock_customer", writable_customer(":customer_id::uuid"))
"""A writer locks the customer first; what it waited for is seen by the statement that follows."""


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


class RequestSummary(NamedTuple):
    """A request for context as far as a company is shown it."""

    customer_id: uuid.UUID | None
    purpose: str
    state: str
    field_keys: list[str]
    remember: bool
    created_at: datetime
    expires_at: datetime
    approved_at: datetime | None


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

_REQUESTS = text(f"""
    SELECT id, environment_id, interaction_id, purpose, operation, state, remember,
           jsonb_array_length(receipt) AS receipt_items, created_at
    FROM enrichment_requests WHERE {_OF_CUSTOMER} ORDER BY created_at DESC, id LIMIT :limit
""")


def list_requests(product_id: uuid.UUID, customer_id: uuid.UUID, limit: int) -> list[RequestItem]:
    """Return a customer's newest requests."""
    values = {"product_id": product_id, "customer_id": customer_id, "now": clock.now(), "limit": limit}
    return [RequestItem(*row) for row in session().execute(_REQUESTS, values)]


_FIND_REQUEST_SUMMARY = text("""
    SELECT customer_id, purpose, state, ARRAY(SELECT entry ->> 'key' FROM jsonb_array_elements(catalog) AS entry),
           remember, created_at, expires_at, approved_at
    FROM enrichment_requests WHERE environment_id = :environment_id AND interaction_id = :interaction_id
""")

_FIND_CLOSED_AT = text("""
    SELECT closed_at FROM closed_requests WHERE environment_id = :environment_id AND interaction_id = :interaction_id
""")


def find_request_summary(environment_id: uuid.UUID, interaction_id: uuid.UUID) -> RequestSummary | None:
    """Return the request of an interaction, which is kept for two hours, or None."""
    values = {"environment_id": environment_id, "interaction_id": interaction_id}
    row = session().execute(_FIND_REQUEST_SUMMARY, values).one_or_none()
    return RequestSummary(*row) if row else None


def find_closed_at(environment_id: uuid.UUID, interaction_id: uuid.UUID) -> datetime | None:
    """Return when the request of an interaction was closed, or None."""
    values = {"environment_id": environment_id, "interaction_id": interaction_id}
    closed_at: datetime | None = session().scalar(_FIND_CLOSED_AT, values)
    return closed_at
