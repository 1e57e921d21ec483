"""Read stored requests and signals, and count how often fields were asked for and answered."""

import uuid
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import text

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

# What has left the table of requests, which is after two hours, and what is still there.
_FIELD_USES = text(f"""
    WITH open_requests AS (SELECT * FROM enrichment_requests WHERE environment_id = :environment_id)
    SELECT key, purpose, sum(asked)::bigint AS asked, sum(answered)::bigint AS answered
    FROM (
        SELECT key, purpose, asked, answered FROM field_days
        WHERE environment_id = :environment_id AND day_on >= :first_on
        UNION ALL
        SELECT key, purpose, asked, answered FROM ({field_counts("open_requests")}) counted WHERE day_on >= :first_on
    ) used
    GROUP BY key, purpose ORDER BY key, purpose LIMIT {MAX_FIELD_USES}
""")


def list_field_uses(environment_id: uuid.UUID, first_on: date) -> list[FieldUse]:
    """Return how often fields were asked for and answered in an environment, since a day."""
    values = {"environment_id": environment_id, "first_on": first_on}
    return [FieldUse(*row) for row in session().execute(_FIELD_USES, values)]
