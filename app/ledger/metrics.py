"""Metrics that are read from the changes of the ledger."""

from collections.abc import Iterator

from app.core.metrics.families import OUTBOX_ROWS
from app.core.metrics.queries import find_waiting_rows
from app.core.metrics.readings import Reading


def read_metrics() -> Iterator[Reading]:
    """Read how many changes wait to be added to the day counts. Needs a transaction."""
    yield Reading(OUTBOX_ROWS, find_waiting_rows("ledger_changes").number, ("ledger_changes",))
