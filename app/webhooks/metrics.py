"""Metrics that are read from the endpoints of webhooks and the log of their deliveries."""

from collections.abc import Iterator

from sqlalchemy import text

from app.core import clock
from app.core.database import session
from app.core.metrics.families import OUTBOX_OLDEST_AGE, OUTBOX_ROWS, WEBHOOK_ENDPOINTS
from app.core.metrics.queries import MAX_COUNTED_ROWS, find_waiting_rows
from app.core.metrics.readings import Reading

OUTBOX = "webhook_deliveries"

_STATES = ("enabled", "failing", "disabled")

_COUNT_ENDPOINTS = text(f"""
    SELECT count(*) FILTER (WHERE disabled_at IS NULL AND failure_count = 0),
           count(*) FILTER (WHERE disabled_at IS NULL AND failure_count > 0),
           count(*) FILTER (WHERE disabled_at IS NOT NULL)
    FROM (SELECT disabled_at, failure_count FROM webhook_endpoints LIMIT {MAX_COUNTED_ROWS}) AS counted_rows
""")

_DUE_DELIVERIES = """
    webhook_deliveries d JOIN webhook_endpoints e ON e.environment_id = d.environment_id AND e.id = d.endpoint_id
"""

# What an endpoint that fails has to wait for is its receiver, which the state of the endpoint tells.
_IS_DUE = "d.next_attempt_at <= :now AND e.disabled_at IS NULL AND e.failure_count = 0"


def read_metrics() -> Iterator[Reading]:
    """Read the number of endpoints in each state, and the deliveries that are due. Needs a transaction."""
    due = find_waiting_rows(_DUE_DELIVERIES, "d.next_attempt_at", _IS_DUE, now=clock.now())
    yield Reading(OUTBOX_ROWS, due.number, (OUTBOX,))
    yield Reading(OUTBOX_OLDEST_AGE, due.oldest_age_s, (OUTBOX,))
    counts = session().execute(_COUNT_ENDPOINTS).one()
    for state, count in zip(_STATES, counts, strict=True):
        yield Reading(WEBHOOK_ENDPOINTS, count, (state,))
