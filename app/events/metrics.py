"""Metrics that are read from the outbox of events."""

from collections.abc import Iterator

from app.core.metrics.families import OUTBOX_OLDEST_AGE, OUTBOX_ROWS
from app.core.metrics.queries import find_waiting_rows
from app.core.metrics.readings import Reading
from app.events.rules import Consumer


def read_metrics() -> Iterator[Reading]:
    """Read what waits for each consumer. Needs a transaction."""
    for consumer in Consumer:
        waiting = find_waiting_rows("events", "created_at", f"consumer = '{consumer}'")
        yield Reading(OUTBOX_ROWS, waiting.number, (str(consumer),))
        yield Reading(OUTBOX_OLDEST_AGE, waiting.oldest_age_s, (str(consumer),))
