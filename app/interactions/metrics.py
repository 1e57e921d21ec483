"""Metrics that are read from the outbox and the changes of counts."""

from collections.abc import Iterator

from app.core.metrics.families import OUTBOX_OLDEST_AGE, OUTBOX_ROWS
from app.core.metrics.queries import find_waiting_rows
from app.core.metrics.readings import Reading


def read_metrics() -> Iterator[Reading]:
    """Read what waits for its promotion, and for the day counts; changes have no time. Needs a transaction."""
    promotions = find_waiting_rows("promotions", "created_at")
    yield Reading(OUTBOX_ROWS, promotions.number, ("promotions",))
    yield Reading(OUTBOX_OLDEST_AGE, promotions.oldest_age_s, ("promotions",))
    yield Reading(OUTBOX_ROWS, find_waiting_rows("interaction_changes").number, ("interaction_changes",))
