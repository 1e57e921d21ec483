"""One line for each review that arrives in the demo environment."""

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice

from flask import Flask

from app.cli.follower import Follower
from app.cli.output import printable
from app.core import clock
from app.core.database import transaction
from app.core.errors import DatabaseUnavailable
from app.interactions.feed import FeedCriteria, FeedItem
from app.outcomes.queries import REVIEWS

POLL_INTERVAL_S = 1.0
MAX_REVIEWS = 100
"""At most this many a poll are shown; this is for reading, not for load tests."""
MAX_LINE_LENGTH = 120


class ReviewLog:
    """The reviews of one environment from the creation of this object on, as lines; used within an app context."""

    def __init__(self, environment_id: uuid.UUID) -> None:
        self._criteria = FeedCriteria([environment_id])
        self._follower = Follower(REVIEWS, self._read_page)
        self._started_at = clock.now()

    def poll(self) -> Iterator[str]:
        """Yield a line for each review since the last call, the oldest first."""
        for item in islice(self._follower.poll(), MAX_REVIEWS):
            if item.created_at >= self._started_at:
                yield format_line(item)

    def _read_page(self, list_items: Callable[[FeedCriteria], list[FeedItem]]) -> list[FeedItem]:
        with transaction():
            return list_items(self._criteria)


def write_reviews(
    app: Flask, environment_id: uuid.UUID, write: Callable[[str], None], stop_event: threading.Event
) -> None:
    """Write a line for each review that arrives, until `stop_event` is set."""
    with app.app_context():
        log = ReviewLog(environment_id)
        while not stop_event.wait(POLL_INTERVAL_S):
            # The database may be restarting; a later poll shows what arrived meanwhile.
            with suppress(DatabaseUnavailable):
                for line in log.poll():
                    write(line)


def format_line(item: FeedItem) -> str:
    """Return one line about a review, in local time, without control characters."""
    texts = map(printable, (f"{item.outcome or '-':<7}", item.operation, item.note))
    line = f"{item.created_at.astimezone():%H:%M:%S}  {'  '.join(texts)}"
    return line if len(line) <= MAX_LINE_LENGTH else line[: MAX_LINE_LENGTH - 1] + "…"
