"""Metrics that are read from the inbox."""

from collections.abc import Iterator

from app.core.metrics.families import INBOX_OLDEST_AGE, INBOX_ROWS, PARKED_BATCHES
from app.core.metrics.queries import find_waiting_rows
from app.core.metrics.readings import Reading


def read_metrics() -> Iterator[Reading]:
    """Read the size and age of the inbox. Needs a transaction."""
    waiting = find_waiting_rows("telemetry_inbox", "received_at", "parked_at IS NULL")
    yield Reading(INBOX_ROWS, waiting.number)
    yield Reading(INBOX_OLDEST_AGE, waiting.oldest_age_s)
    yield Reading(PARKED_BATCHES, find_waiting_rows("telemetry_inbox", condition="parked_at IS NOT NULL").number)
