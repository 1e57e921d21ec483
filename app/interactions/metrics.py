"""Metrics that are read from the outbox, the changes of interactions and the uncounted days."""

from collections.abc import Iterator

from app.core.metrics.families import OUTBOX_OLDEST_AGE, OUTBOX_ROWS
from app.core.metrics.queries import find_waiting_rows
from app.core.metrics.readings import Reading


def read_metrics() -> Iterator[Reading]:
    """Read what waits for its promotion or to be counted; changes and days have no time. Needs a transaction."""
    promotions = find_waiting_rows("promotions", "created_at")
    yield Reading(OUTBOX_ROWS, promotions.number, ("promotions",))
    yield Reading(OUTBOX_OLDEST_AGE, promotions.oldest_age_s, ("promotions",))
    for table in ("interaction_changes", "uncounted_days"):
        yield Reading(OUTBOX_ROWS, find_waiting_rows(table).number, (table,))
