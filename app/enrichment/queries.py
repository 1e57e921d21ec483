"""Read stored requests."""

import uuid
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from app.core import clock
from app.core.database import PreparedStatement, session
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


class SignalSummary(NamedTuple):
    """A signal that was answered in an interaction."""

    id: uuid.UUID
    customer_id: uuid.UUID | None
    purpose: str
    key: str
    value: str
    provenance: str
    remembered: bool
    created_at: datetime
    expires_at: datetime


MAX_SIGNALS = 50
"""How many of one interaction are read; an answer has eight at most."""

_FIND_REQUEST_SUMMARY = text("""
    SELECT customer_id, purpose, state, ARRAY(SELECT entry ->> 'key' FROM jsonb_array_elements(catalog) AS entry),
           remember, created_at, expires_at, approved_at
    FROM enrichment_requests WHERE environment_id = :environment_id AND interaction_id = :interaction_id
""")

_FIND_CLOSED_AT = text("""
    SELECT closed_at FROM closed_requests WHERE environment_id = :environment_id AND interaction_id = :interaction_id
""")

_LIST_SIGNALS = text("""
    SELECT id, customer_id, purpose, key, value, provenance, remembered, created_at, expires_at FROM signals
    WHERE product_id = :product_id AND environment_id = :environment_id AND interaction_id = :interaction_id
      AND expires_at > :now
    ORDER BY created_at, key LIMIT :limit
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


def list_interaction_signals(
    product_id: uuid.UUID, environment_id: uuid.UUID, interaction_id: uuid.UUID
) -> list[SignalSummary]:
    """Return the signals that were answered in an interaction and have not expired."""
    values = {"product_id": product_id, "environment_id": environment_id, "interaction_id": interaction_id}
    rows = session().execute(_LIST_SIGNALS, {**values, "now": clock.now(), "limit": MAX_SIGNALS})
    return [SignalSummary(*row) for row in rows]
