"""Export reviews from the outbox of events."""

import time
from collections.abc import Sequence
from datetime import timedelta

from app.core import clock
from app.core.database import transaction
from app.core.settings import current_settings
from app.core.single_run import SingleRun
from app.evaluations.exporter import EventRecord, export
from app.evaluations.rules import EXPLANATION, OPERATION, build_attributes
from app.events import service as events
from app.events.rules import Consumer, QueuedEvent
from app.interactions.queries import list_summaries
from app.outcomes.queries import list_reviews

BATCH_SIZE = 500
"""Reviews in one request: some 300 KB with their notes."""

LEASE = timedelta(seconds=120)
"""Longer than a request can take. What a killed worker was sending is sent again when it ends."""

RETRY_DELAY = timedelta(seconds=15)

BUDGET_S = 30.0


def export_waiting_reviews(budget_s: float = BUDGET_S) -> int:
    """Send the reviews in the outbox to the collector, and return their number.

    Each leaves the outbox after the collector has taken it. While it takes none, all wait for as long as reviews are
    kept; a review that was removed before is not sent.
    """
    deadline, total = time.monotonic() + budget_s, 0
    while current_settings().exports_reviews and time.monotonic() < deadline:
        with transaction():
            lease = events.lease(Consumer.EVALUATIONS, BATCH_SIZE, LEASE)
            records = _records(lease.events) if lease.events else []
        is_sent = not records or export(records, clock.now())
        with transaction():
            if is_sent:
                lease.end()
            else:
                lease.release(clock.now() + RETRY_DELAY)
        total += len(records) if is_sent else 0
        if not is_sent or len(lease.events) < BATCH_SIZE:
            break
    return total


def _records(queued_events: Sequence[QueuedEvent]) -> list[EventRecord]:
    """Return what is sent of those reviews that are still stored."""
    keys = [(event.environment_id, event.interaction_id) for event in queued_events if event.interaction_id]
    reviews, interactions = list_reviews(keys), list_summaries(keys)
    has_notes = current_settings().exports_notes
    records = []
    for key, review in reviews.items():
        attributes = build_attributes(review.environment_id, review.id, review.interaction_id, review.outcome)
        if key in interactions and (operation := interactions[key].known_operation):
            attributes[OPERATION] = operation
        if has_notes:
            attributes[EXPLANATION] = review.note
        records.append(EventRecord(review.created_at, attributes))
    return records


run = SingleRun(export_waiting_reviews)
"""Runs the job at most once in this process, so that a slow collector occupies one of its threads only."""
