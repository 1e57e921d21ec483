"""The log of deliveries: queue them, list them, and replay one."""

import uuid
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import insert, select, text

from app.core import clock
from app.core.database import session, transaction
from app.core.errors import Conflict, NotFound
from app.core.jobs import Job, notify
from app.events import service as events
from app.events.rules import Consumer
from app.webhooks.models import WebhookDelivery, WebhookEndpoint
from app.webhooks.rules import DELIVERY_TIMEOUT, DeliveryState, Message, group_events

BATCH_SIZE = 500
"""Events in one transaction."""

MAX_BATCHES = 20
"""Of one call, so that many events do not keep the first of them from being sent."""

DEFAULT_LIMIT, MAX_LIMIT = 50, 1_000

NEWEST_SCAN = 2_000
"""Deliveries that the newest one of each endpoint is looked for among; reading them takes some milliseconds."""

_NEWEST_OF_EACH = text("""
    SELECT DISTINCT ON (endpoint_id) endpoint_id, type, state, status_code, error, coalesce(attempted_at, created_at)
    FROM (
        SELECT * FROM webhook_deliveries
        WHERE environment_id = :environment_id ORDER BY created_at DESC LIMIT :scan_limit
    ) newest ORDER BY endpoint_id, created_at DESC
""")

_ENABLED_ENDPOINTS = text("""
    SELECT environment_id, id, event_types FROM webhook_endpoints
    WHERE disabled_at IS NULL AND environment_id = ANY(CAST(:environments AS uuid[]))
""")

_FAIL_EXPIRED = text("""
    WITH expired AS (
        SELECT environment_id, id FROM webhook_deliveries
        WHERE next_attempt_at <= :now AND expires_at <= :now ORDER BY expires_at LIMIT :batch_size
        FOR UPDATE SKIP LOCKED
    )
    UPDATE webhook_deliveries d
    SET state = 'failed', next_attempt_at = NULL, error = coalesce(d.error, 'expired')
    FROM expired e WHERE d.environment_id = e.environment_id AND d.id = e.id
    RETURNING 1
""")


def queue_deliveries() -> int:
    """Make deliveries of the events in the outbox, of so many at most, and return the number of events."""
    total = 0
    for _ in range(MAX_BATCHES):
        with transaction():
            batch = events.take(Consumer.WEBHOOKS, BATCH_SIZE)
            rows = _address(group_events(batch), clock.now()) if batch else []
            if rows:
                session().execute(insert(WebhookDelivery), rows)
        total += len(batch)
        if len(batch) < BATCH_SIZE:
            break
    return total


def _address(messages: Iterable[Message], now: datetime) -> list[dict[str, Any]]:
    """Return a row for each message and each endpoint of its environment that takes its type."""
    messages = list(messages)
    environments = list({message.environment_id for message in messages})
    endpoints = session().execute(_ENABLED_ENDPOINTS, {"environments": environments}).all()
    rows = []
    for message in messages:
        message_id = uuid.uuid4()
        rows += [
            {
                **asdict(message),
                "id": uuid.uuid4(),
                "endpoint_id": endpoint.id,
                "message_id": message_id,
                "created_at": now,
                "expires_at": now + DELIVERY_TIMEOUT,
                "state": DeliveryState.PENDING.value,
                "next_attempt_at": now,
            }
            for endpoint in endpoints
            if endpoint.environment_id == message.environment_id and message.type in endpoint.event_types
        ]
    return rows


def fail_expired() -> None:
    """Give up deliveries whose time is over, also those of endpoints that were disabled or removed."""
    for _ in range(MAX_BATCHES):
        with transaction():
            values = {"now": clock.now(), "batch_size": BATCH_SIZE}
            if len(session().execute(_FAIL_EXPIRED, values).all()) < BATCH_SIZE:
                return


def list_deliveries(
    environment_id: uuid.UUID,
    endpoint_id: uuid.UUID | None = None,
    state: DeliveryState | None = None,
    limit: int = DEFAULT_LIMIT,
) -> list[WebhookDelivery]:
    """Return the newest deliveries of an environment, the newest first."""
    statement = select(WebhookDelivery).where(WebhookDelivery.environment_id == environment_id)
    if endpoint_id is not None:
        statement = statement.where(WebhookDelivery.endpoint_id == endpoint_id)
    if state is not None:
        statement = statement.where(WebhookDelivery.state == str(state))
    order = statement.order_by(WebhookDelivery.created_at.desc(), WebhookDelivery.id)
    return list(session().scalars(order.limit(limit)))


class NewestDelivery(NamedTuple):
    """The newest delivery to an endpoint."""

    endpoint_id: uuid.UUID
    type: str
    state: str
    status_code: int | None
    error: str | None
    at: datetime
    """When it was last attempted, or else queued."""


def list_newest_deliveries(environment_id: uuid.UUID) -> dict[uuid.UUID, NewestDelivery]:
    """Return the newest delivery to each endpoint of an environment among the newest `NEWEST_SCAN`, by endpoint."""
    rows = session().execute(_NEWEST_OF_EACH, {"environment_id": environment_id, "scan_limit": NEWEST_SCAN})
    return {row.endpoint_id: NewestDelivery(*row) for row in rows}


def replay(delivery_id: uuid.UUID) -> WebhookDelivery:
    """Send a delivery again at once, for as long as a new one, with the same id of its message."""
    statement = select(WebhookDelivery).where(WebhookDelivery.id == delivery_id).with_for_update()
    delivery = session().scalars(statement).one_or_none()
    if delivery is None:
        raise NotFound("There is no delivery with this id.")
    endpoint = session().get(WebhookEndpoint, (delivery.environment_id, delivery.endpoint_id))
    if endpoint is None or endpoint.disabled_at is not None:
        raise Conflict("The endpoint of this delivery was removed or is disabled; enable it first.")
    if delivery.state == DeliveryState.SENDING:
        raise Conflict("This delivery is being sent at this moment; look at its state again.")
    _queue_again(delivery, clock.now())
    notify(Job.DELIVER_WEBHOOKS)
    return delivery


def _queue_again(delivery: WebhookDelivery, now: datetime) -> None:
    delivery.state = DeliveryState.PENDING.value
    delivery.next_attempt_at, delivery.expires_at = now, now + DELIVERY_TIMEOUT
    delivery.attempts, delivery.error = 0, None
    session().flush()
