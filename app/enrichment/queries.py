"""Read stored requests."""

import uuid
from datetime import datetime
from typing import Any, NamedTuple

from app.core.database import PreparedStatement
from app.customers.sql import writable_customer
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
