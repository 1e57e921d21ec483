"""Read reviews and reports as they become visible."""

import uuid
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial

from app.core import clock
from app.core.database.pages import COMMIT_DELAY
from app.interactions.feed import Feed, FeedCriteria, FeedItem

PAGE_SIZE = 500

Cursor = tuple[datetime, uuid.UUID, uuid.UUID]

ReadPage = Callable[[Callable[[FeedCriteria], list[FeedItem]]], list[FeedItem]]
"""Calls a function with the criteria, within a transaction."""


class Follower:
    """The items of a feed that become visible from the call of `start` on.

    An error in a poll loses no item: the next poll reads again what the caller has not been given.
    """

    def __init__(self, feed: Feed, read_page: ReadPage) -> None:
        self._feed, self._read_page = feed, read_page
        self._latest_at = clock.now()
        self._cursors: set[Cursor] = set()
        """Of the items that were returned and that the next poll reads again."""
        self._first_cursor: Cursor | None = None
        """What comes before it was left out of a full first page."""

    def start(self, limit: int) -> list[FeedItem]:
        """Return the newest items, the oldest of them first."""
        items = self._read_page(partial(self._feed.list_newest, limit=limit))[::-1]
        self._first_cursor = items[0][:3] if len(items) == limit else None
        self._cursors = {item[:3] for item in items}
        self._latest_at = items[-1].created_at if items else self._latest_at
        return items

    def poll(self) -> Iterator[FeedItem]:
        """Yield the items that became visible since the last poll, the oldest first."""
        since = self._latest_at - COMMIT_DELAY
        self._cursors = {cursor for cursor in self._cursors if cursor[0] >= since}
        for item in self._read_after(since):
            cursor = item[:3]
            if cursor not in self._cursors and (self._first_cursor is None or cursor > self._first_cursor):
                self._cursors.add(cursor)
                self._latest_at = max(self._latest_at, item.created_at)
                yield item

    def _read_after(self, since: datetime) -> Iterator[FeedItem]:
        cursor: FeedItem | datetime = since
        while True:
            page = self._read_page(partial(self._feed.list_after, limit=PAGE_SIZE, cursor=cursor))
            yield from page
            if len(page) < PAGE_SIZE:
                return
            cursor = page[-1]
