"""Rules of webhooks: what each one holds, when a delivery is retried, and when an endpoint is disabled."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from app.events.rules import EventType, QueuedEvent

MAX_ENDPOINTS = 10
"""Of one environment."""

MAX_INTERACTIONS = 100
"""Interactions in one `interaction.confirmed`: about 15 KB, as the specification recommends bodies below 20 KB."""

RETRY_DELAYS = tuple(
    timedelta(seconds=seconds) for seconds in (10, 60, 300, 1_200, 3_600, 7_200, 14_400, 25_200, 32_400)
)
"""What is waited for after each failed attempt, before jitter; together nearly a day."""

JITTER = 0.1
"""A delay is changed by up to this share, so that what failed together is not tried again together."""

DELIVERY_TIMEOUT = timedelta(days=1)
"""A delivery that did not succeed within it has failed."""

MIN_FAILURES, MIN_FAILING_TIME = 10, timedelta(days=1)
"""An endpoint is disabled after so many failed attempts in a row, of which the first is at least so long ago."""

GONE = 410
"""The status by which a receiver says that it wants no more webhooks."""

DEFAULT_OVERLAP_HOURS = 24
MAX_OVERLAP_HOURS = 7 * 24


class DeliveryState(StrEnum):
    """What has become of a delivery."""

    PENDING = "pending"
    """It waits for its first attempt, or for the next."""
    SENDING = "sending"
    """A worker is sending it; if the worker dies, it is sent again when its lease ends."""
    DELIVERED = "delivered"
    FAILED = "failed"
    DROPPED = "dropped"
    """What it was about was removed before it could be delivered."""


class DisabledReason(StrEnum):
    """Why an endpoint was disabled."""

    GONE = "gone"
    """It answered 410."""
    FAILING = "failing"
    """At least `MIN_FAILURES` attempts in a row have failed, the first at least `MIN_FAILING_TIME` ago."""


@dataclass(frozen=True, slots=True)
class Message:
    """One webhook, before it is addressed to the endpoints of its environment; it holds ids and counts only."""

    environment_id: uuid.UUID
    type: str
    occurred_at: datetime
    interaction_ids: list[uuid.UUID] = field(default_factory=list)
    details: dict[str, Any] | None = None


def group_events(events: Iterable[QueuedEvent]) -> list[Message]:
    """Return the messages of events: confirmations and purges are put together, of the others each is one."""
    groups: dict[tuple[uuid.UUID, str], list[QueuedEvent]] = defaultdict(list)
    for event in events:
        groups[event.environment_id, event.type].append(event)
    return [message for group in groups.values() for message in _messages(group)]


def _messages(events: Sequence[QueuedEvent]) -> Iterator[Message]:
    environment_id, event_type = events[0].environment_id, events[0].type
    if event_type == EventType.RETENTION_PURGED:
        counts: Counter[str] = Counter()
        for event in events:
            counts.update(event.details or {})
        yield Message(environment_id, event_type, events[-1].created_at, details=dict(counts))
        return
    size = MAX_INTERACTIONS if event_type == EventType.INTERACTION_CONFIRMED else 1
    for start in range(0, len(events), size):
        batch = events[start : start + size]
        ids = [event.interaction_id for event in batch if event.interaction_id]
        yield Message(environment_id, event_type, batch[-1].created_at, ids, batch[-1].details)


def retry_delay(attempts: int, random: float) -> timedelta | None:
    """Return what to wait for after so many failed attempts, or None after the last; `random` is within 0 to 1."""
    if attempts > len(RETRY_DELAYS):
        return None
    return RETRY_DELAYS[attempts - 1] * (1 + JITTER * (2 * random - 1))


def disabled_reason(
    status: int | None, failure_count: int, failing_since: datetime, now: datetime
) -> DisabledReason | None:
    """Return why an endpoint has to be disabled after a failed attempt, or None."""
    if status == GONE:
        return DisabledReason.GONE
    is_failing = failure_count >= MIN_FAILURES and now - failing_since >= MIN_FAILING_TIME
    return DisabledReason.FAILING if is_failing else None
