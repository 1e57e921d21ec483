"""Export reviews from the outbox of events."""

import logging
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from app.core import clock
from app.core.database import transaction
from app.core.settings import current_settings
from app.core.single_run import SingleRun
from app.evaluations.exporter import Answer, EventRecord, export
from app.evaluations.rules import EXPLANATION, OPERATION, build_attributes
from app.events import service as events
from app.events.rules import Consumer, QueuedEvent
from app.interactions.queries import list_summaries
from app.outcomes.queries import list_reviews
from config.observability import MAX_EXPORT_TIMEOUT_S

BATCH_SIZE = 500
"""Reviews in one request: some 300 KB with their notes."""

LEASE = timedelta(seconds=2 * MAX_EXPORT_TIMEOUT_S + 20)
"""Longer than a request can take, whose connection and answer each have its time-out.

What a killed worker was sending is sent again when it ends.
"""

RETRY_DELAY = timedelta(seconds=15)

REFUSED_DELAY = timedelta(hours=1)
"""After the collector has refused a review by itself: meanwhile others go out."""
MAX_REFUSED = 10
"""Reviews that are refused in one run; a collector that refuses everything is left alone after so many."""

BUDGET_S = 30.0

logger = logging.getLogger(__name__)


class _Attempt(NamedTuple):
    """What became of a batch, the number of its events, and of those whose review was still stored."""

    answer: Answer
    event_count: int
    review_count: int


def export_waiting_reviews(budget_s: float = BUDGET_S) -> int:
    """Send the reviews in the outbox to the collector, and return their number.

    Each leaves the outbox after the collector has taken it. While it takes none, all wait for as long as reviews are
    kept; a review that was removed before is not sent. A batch that the collector refuses is halved until the review
    that it refuses is alone, which then waits longer than the others.
    """
    deadline, total, refused_count, size = time.monotonic() + budget_s, 0, 0, BATCH_SIZE
    while current_settings().exports_reviews and time.monotonic() < deadline and refused_count < MAX_REFUSED:
        attempt = _export_batch(size)
        if attempt.answer is Answer.REFUSED:
            refused_count += attempt.event_count == 1
            size = max(attempt.event_count // 2, 1)
            continue
        total += attempt.review_count if attempt.answer is Answer.TAKEN else 0
        if attempt.answer is Answer.FAILED or attempt.event_count < size:
            break
        size = min(2 * size, BATCH_SIZE)
    return total


def _export_batch(size: int) -> _Attempt:
    """Send the reviews of up to `size` events in one request."""
    with transaction():
        lease = events.lease(Consumer.EVALUATIONS, size, LEASE)
        records = _records(lease.events) if lease.events else []
    answer = export(records, clock.now()) if records else Answer.TAKEN
    with transaction():
        if answer is Answer.TAKEN:
            lease.end()
        else:
            lease.release(clock.now() + _delay(answer, lease.events))
    return _Attempt(answer, len(lease.events), len(records))


def _delay(answer: Answer, queued_events: Sequence[QueuedEvent]) -> timedelta:
    """Return after what time events are sent again."""
    if answer is Answer.FAILED:
        return RETRY_DELAY
    if len(queued_events) > 1:
        # In smaller batches, at once.
        return timedelta(0)
    logger.error("the collector refuses a review", extra={"interactionId": str(queued_events[0].interaction_id)})
    return REFUSED_DELAY


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
