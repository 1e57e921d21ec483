"""Claim deliveries that are due, with everything that is needed to send them."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from cryptography.fernet import InvalidToken
from sqlalchemy import text

from app.core import clock
from app.core.database import session, transaction
from app.core.seal import Seal
from app.core.settings import current_settings
from app.webhooks.payloads import build_body, read_rows
from app.webhooks.rules import Message
from app.webhooks.sender import Request
from app.webhooks.signing import message_name, secret_seal, signed_headers

MAX_OF_ENDPOINT = 4
"""Deliveries that a worker process sends to one endpoint at the same time."""

LEASE = timedelta(seconds=60)
"""Longer than an attempt can take. What a killed worker was sending is sent again when it ends."""

# The endpoints that have something due share what is free; each is given what it has waited for longest.
_CLAIM = text("""
    WITH due AS (
        SELECT d.environment_id, d.id
        FROM webhook_endpoints e
        LEFT JOIN unnest(CAST(:busy_endpoints AS uuid[]), CAST(:busy_counts AS int[])) AS busy (id, sending)
          ON busy.id = e.id
        CROSS JOIN LATERAL (
            SELECT environment_id, id, next_attempt_at FROM webhook_deliveries
            WHERE environment_id = e.environment_id AND endpoint_id = e.id AND next_attempt_at <= :now
            ORDER BY next_attempt_at LIMIT greatest(:max_of_endpoint - coalesce(busy.sending, 0), 0)
            FOR UPDATE SKIP LOCKED
        ) d
        WHERE e.disabled_at IS NULL AND (e.failure_count > 0) = :is_failing
        ORDER BY d.next_attempt_at LIMIT :limit
    )
    UPDATE webhook_deliveries d
    SET state = 'sending', next_attempt_at = :lease_ends_at, attempted_at = :now, attempts = d.attempts + 1
    FROM due, webhook_endpoints e
    WHERE d.environment_id = due.environment_id AND d.id = due.id
      AND e.environment_id = d.environment_id AND e.id = d.endpoint_id
    RETURNING d.environment_id, d.id, d.endpoint_id, d.message_id, d.type, d.interaction_ids, d.details,
              d.occurred_at, d.expires_at, d.attempts,
              e.url, e.sealed_secret, e.sealed_old_secret, e.old_secret_expires_at
""")


class _Row(NamedTuple):
    environment_id: uuid.UUID
    id: uuid.UUID
    endpoint_id: uuid.UUID
    message_id: uuid.UUID
    type: str
    interaction_ids: list[uuid.UUID]
    details: dict[str, Any] | None
    occurred_at: datetime
    expires_at: datetime
    attempts: int
    url: str
    sealed_secret: bytes
    sealed_old_secret: bytes | None
    old_secret_expires_at: datetime | None

    @property
    def message(self) -> Message:
        return Message(self.environment_id, self.type, self.occurred_at, self.interaction_ids, self.details)

    def open_secrets(self, seal: Seal, now: datetime) -> list[str]:
        """Return the secrets that sign, or raise `InvalidToken`."""
        is_overlapping = self.old_secret_expires_at is not None and self.old_secret_expires_at > now
        sealed = [self.sealed_secret, self.sealed_old_secret if is_overlapping else None]
        return [seal.decrypt(bytes(value)).decode() for value in sealed if value is not None]


@dataclass(frozen=True, slots=True)
class DueDelivery:
    """A delivery that this worker has claimed; without a request there is nothing to send, for the reason `error`."""

    environment_id: uuid.UUID
    id: uuid.UUID
    endpoint_id: uuid.UUID
    attempts: int
    expires_at: datetime
    is_failing: bool
    """Whether the last attempt of its endpoint failed."""
    request: Request | None = None
    error: str | None = None


ROWS_REMOVED = "rows_removed"
SECRET_UNREADABLE = "secret_unreadable"


def claim_due(limit: int, load: Mapping[uuid.UUID, int], *, is_failing: bool) -> list[DueDelivery]:
    """Claim deliveries of endpoints that are failing, or of those that are not; `load` counts what is being sent."""
    if limit <= 0:
        return []
    now = clock.now()
    values = {
        "busy_endpoints": list(load),
        "busy_counts": list(load.values()),
        "max_of_endpoint": MAX_OF_ENDPOINT,
        "is_failing": is_failing,
        "limit": limit,
        "now": now,
        "lease_ends_at": now + LEASE,
    }
    with transaction():
        rows = [_Row(*row) for row in session().execute(_CLAIM, values)]
        bodies = _build_bodies(rows)
    seal = secret_seal()
    return [_due_delivery(row, body, seal, now, is_failing=is_failing) for row, body in zip(rows, bodies, strict=True)]


def _due_delivery(row: _Row, body: bytes | None, seal: Seal, now: datetime, *, is_failing: bool) -> DueDelivery:
    delivery = DueDelivery(row.environment_id, row.id, row.endpoint_id, row.attempts, row.expires_at, is_failing)
    if body is None:
        return replace(delivery, error=ROWS_REMOVED)
    try:
        headers = signed_headers(row.open_secrets(seal, now), message_name(row.message_id), now, body)
    except InvalidToken:
        return replace(delivery, error=SECRET_UNREADABLE)
    return replace(delivery, request=Request(row.url, headers, body, current_settings().webhooks_allow_private))


def _build_bodies(rows: Sequence[_Row]) -> list[bytes | None]:
    stored_rows = read_rows([row.message for row in rows])
    return [build_body(row.message, stored_rows) for row in rows]
