"""One line for each review that arrives in the demo environment."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from uuid import UUID

import psycopg2
from psycopg2.extensions import connection as Connection

POLL_INTERVAL_S = 1.0
CONNECT_TIMEOUT_S = 3
MAX_REVIEWS = 100
"""At most this many a second are shown; this is for reading, not for load tests."""
MAX_LINE_LENGTH = 120

OVERLAP = "5 seconds"
"""A review that was committed late has a time before that of one already shown."""

_RECENT = f"""
    SELECT r.id::text, r.created_at, r.outcome, r.note, i.operation
    FROM reviews r LEFT JOIN interactions i ON (i.environment_id, i.id) = (r.environment_id, r.interaction_id)
    WHERE r.environment_id = %s AND r.created_at > %s::timestamptz - interval '{OVERLAP}'
    ORDER BY r.created_at DESC LIMIT {MAX_REVIEWS}
"""


class ReviewFeed:
    """The reviews of one environment, from the creation of this object on."""

    def __init__(self, database_url: str, environment_id: UUID) -> None:
        self._url, self._environment_id = database_url, str(environment_id)
        self._shown: set[str] = set()
        self._since: datetime | None = None

    def follow(self, write: Callable[[str], None], stop_event: threading.Event) -> None:
        """Write a line for each review that arrives, until `stop_event` is set."""
        while not stop_event.wait(POLL_INTERVAL_S):
            # The database may be restarting; the next connection shows what arrived meanwhile.
            try:
                with closing(self._connect()) as connection:
                    while not stop_event.wait(POLL_INTERVAL_S):
                        for line in self.read(connection):
                            write(line)
            except psycopg2.Error:
                continue

    def read(self, connection: Connection) -> Iterator[str]:
        """Return a line for each review since the last call, the oldest first; none at the first call."""
        with connection.cursor() as cursor:
            is_first = self._since is None
            if is_first:
                cursor.execute("SELECT now()")
                (self._since,) = cursor.fetchone() or (None,)
            cursor.execute(_RECENT, (self._environment_id, self._since))
            rows = cursor.fetchall()
        if rows:
            self._since = max(self._since or rows[0][1], rows[0][1])
        fresh = [] if is_first else [row for row in reversed(rows) if row[0] not in self._shown]
        # What is older than the overlap is not read again.
        self._shown = {row[0] for row in rows}
        return (line(*row[1:]) for row in fresh)

    def _connect(self) -> Connection:
        connection = psycopg2.connect(self._url, connect_timeout=CONNECT_TIMEOUT_S, application_name="bin/dev")
        connection.autocommit = True
        return connection


def line(created_at: datetime, outcome: str, note: str, operation: str | None) -> str:
    """Return one line about a review, in local time, without control characters."""
    text = f"{created_at.astimezone():%H:%M:%S}  {outcome:<7}  {operation or '(no telemetry yet)'}  {note}"
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable if len(printable) <= MAX_LINE_LENGTH else printable[: MAX_LINE_LENGTH - 1] + "…"
