"""Queue events, subscribe environments to them, and take them out of the outbox."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import orjson
from sqlalchemy import delete, insert, select, text

from app.core import clock
from app.core.database import session, transaction
from app.core.database.deletion import first_rows
from app.core.jobs import Job, notify
from app.events.models import Event, EventSubscription
from app.events.rules import Consumer, EventType, QueuedEvent

_QUEUE = text(f"""
    INSERT INTO events (environment_id, consumer, type, details, created_at)
    SELECT environment_id, '{Consumer.WEBHOOKS}', type, CAST(:details AS jsonb), :now
    FROM event_subscriptions WHERE environment_id = :environment_id AND type = :type
    RETURNING 1
""")

_COLUMNS = "environment_id, id, type, interaction_id, details, created_at"
_UNLEASED = "consumer = :consumer AND (leased_until IS NULL OR leased_until <= :now)"

_TAKE = text(f"""
    DELETE FROM events WHERE {first_rows("events", "consumer = :consumer", skips_locked=True)}
    RETURNING {_COLUMNS}
""")

_LEASE = text(f"""
    UPDATE events SET leased_until = :leased_until WHERE {first_rows("events", _UNLEASED, skips_locked=True)}
    RETURNING {_COLUMNS}
""")

_IDS = "unnest(CAST(:environments AS uuid[]), CAST(:ids AS bigint[])) AS leased (environment_id, id)"
_OWN_LEASE = "e.environment_id = leased.environment_id AND e.id = leased.id AND e.leased_until = :leased_until"

_REMOVE = text(f"DELETE FROM events e USING {_IDS} WHERE {_OWN_LEASE}")
_RELEASE = text(f"UPDATE events e SET leased_until = :retry_at FROM {_IDS} WHERE {_OWN_LEASE}")


def subscribe(environment_id: uuid.UUID, event_types: Iterable[EventType]) -> None:
    """Queue exactly these types of events for the webhooks of an environment from now on."""
    session().execute(delete(EventSubscription).where(EventSubscription.environment_id == environment_id))
    rows = [{"environment_id": environment_id, "type": str(event_type)} for event_type in sorted(set(event_types))]
    if rows:
        session().execute(insert(EventSubscription), rows)


def queue(environment_id: uuid.UUID, event_type: EventType, details: dict[str, Any]) -> None:
    """Queue an event for the webhooks of an environment, if they take its type, and notify their job."""
    values = {
        "environment_id": environment_id,
        "type": str(event_type),
        "details": orjson.dumps(details).decode(),
        "now": clock.now(),
    }
    if session().execute(_QUEUE, values).first():
        notify(Job.DELIVER_WEBHOOKS)


def notify_webhooks() -> None:
    """Notify the job of webhooks, if events wait for it."""
    with transaction():
        first_id = session().scalar(select(Event.id).where(Event.consumer == Consumer.WEBHOOKS).limit(1))
    if first_id is not None:
        notify(Job.DELIVER_WEBHOOKS)


def take(consumer: Consumer, batch_size: int) -> list[QueuedEvent]:
    """Remove events from the outbox and return them: for a consumer that stores what it makes of them."""
    rows = session().execute(_TAKE, {"consumer": str(consumer), "batch_size": batch_size})
    return sorted((QueuedEvent(*row) for row in rows), key=lambda event: event.id)


class Lease(NamedTuple):
    """Events that stay in the outbox while they are sent; nobody else is given them until the lease ends."""

    events: list[QueuedEvent]
    leased_until: datetime

    def end(self) -> None:
        """Remove the events from the outbox: they were sent."""
        session().execute(_REMOVE, self._keys())

    def release(self, retry_at: datetime) -> None:
        """Leave the events in the outbox until they are tried again."""
        session().execute(_RELEASE, {**self._keys(), "retry_at": retry_at})

    def _keys(self) -> dict[str, Any]:
        return {**_keys(self.events), "leased_until": self.leased_until}


def lease(consumer: Consumer, batch_size: int, duration: timedelta) -> Lease:
    """Return events of which this worker alone is to send each, for some time."""
    now = clock.now()
    leased_until = now + duration
    values = {"consumer": str(consumer), "batch_size": batch_size, "now": now, "leased_until": leased_until}
    rows = session().execute(_LEASE, values)
    return Lease(sorted((QueuedEvent(*row) for row in rows), key=lambda event: event.id), leased_until)


def _keys(events: Sequence[QueuedEvent]) -> dict[str, Any]:
    return {
        "environments": [event.environment_id for event in events],
        "ids": [event.id for event in events],
    }
