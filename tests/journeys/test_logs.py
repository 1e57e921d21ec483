"""No log of any process repeats what agents and customers wrote, nor a credential, whatever the server suffers."""

import os
import resource
import signal
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg2
import pytest
import requests

from tests.factories import bearer, event
from tests.journeys.stack import Stack, running_stack, wait_until

NOTE = "Planted-note: the invoice had its total in the wrong currency."
CUSTOMER = "planted_customer_4711"
OPERATION = "/planted-operation/:id"
PASSWORD = "planted-password-of-nobody"

ACCEPTED = [200, 202]

HEAP_BYTES = 17 << 20
"""More than a segment of the write-ahead log, so that this limit fails tables alone."""
WAL_BYTES = 15 << 20
"""Less than a segment."""

STORE_REVIEW = (
    "INSERT INTO reviews (environment_id, interaction_id, id, outcome, note, created_at) "
    "VALUES (%s, %s, gen_random_uuid(), 'success', 'x', now())"
)
STORE_REVIEWS = (
    "INSERT INTO reviews (environment_id, interaction_id, id, outcome, note, created_at) "
    "SELECT %s, gen_random_uuid(), gen_random_uuid(), 'success', repeat('x', %s), now() FROM generate_series(1, %s)"
)


@dataclass(frozen=True)
class Planter:
    """Sends texts that no log may repeat."""

    stack: Stack
    capabilities: list[str]

    def send(self) -> list[int]:
        """Send a sign-in, a review and a batch; return the statuses of the last two, 0 for none."""
        telemetry = {"events": [event(operation=OPERATION, customerRef=CUSTOMER)]}
        sign_in = {"email": f"{CUSTOMER}@example.com", "password": PASSWORD}
        self._post("/api/session", sign_in, {"Origin": self.stack.url})
        return [
            self.send_review(),
            self._post("/api/v2/telemetry/batches", telemetry, bearer(self.stack.company.product_key)),
        ]

    def send_review(self, interaction_id: str | None = None) -> int:
        """Send a review; return its status, 0 for none."""
        capability = self.stack.company.capability(interaction_id)
        self.capabilities.append(capability)
        return self._post("/api/v2/outcomes", {"outcome": "failure", "note": NOTE}, bearer(capability))

    @contextmanager
    def in_background(self, interaction_id: str) -> Iterator[None]:
        """Send reviews of one interaction while the block runs."""
        is_over = threading.Event()

        def run() -> None:
            while not is_over.wait(0.05):
                self.send_review(interaction_id)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def planted(self) -> list[str]:
        """Return every text that was sent."""
        company = self.stack.company
        keys = (company.product_key, company.company_key)
        return [NOTE, CUSTOMER, OPERATION, PASSWORD, company.password, *keys, *self.capabilities]

    def _post(self, path: str, body: object, headers: dict[str, str]) -> int:
        try:
            return requests.post(self.stack.url + path, json=body, headers=headers, timeout=10).status_code
        except requests.RequestException:
            return 0


@pytest.fixture
def planter(tmp_path: Path) -> Iterator[Planter]:
    with running_stack(tmp_path, sweep_interval_s=2) as stack:
        yield Planter(stack, [])


@contextmanager
def full_disk(stack: Stack, size: int) -> Iterator[None]:
    """Run the database server with no room for a file to grow beyond `size`."""
    stack.postgres.stop()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The server inherits the limit; this process has it for that moment only.
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        stack.postgres.start()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    yield
    stack.postgres.stop(signal.SIGQUIT)
    stack.postgres.start()


def fill_reviews(stack: Stack) -> None:
    """Store harmless reviews, many at once and then one by one, until the table cannot grow."""
    with closing(psycopg2.connect(stack.database_url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        for number, length in ((1000, 500), (50, 500), (1, 500), (1, 1)):
            with suppress(psycopg2.errors.InternalError_, psycopg2.OperationalError):
                for _ in range(20_000):
                    cursor.execute(STORE_REVIEWS, (str(stack.company.environment_id), length, number))


def fill_wal_segment(stack: Stack) -> None:
    """Write a segment of the write-ahead log to its end, by a statement with a planted text."""
    with closing(psycopg2.connect(stack.postgres.url())) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT pg_switch_wal(), %s", (NOTE,))


def wait_for_statement(stack: Stack) -> int:
    """Return the process id of a backend that waits for a lock with a planted statement."""
    waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%Planted-note%'"
    with closing(psycopg2.connect(stack.postgres.url())) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        wait_until(lambda: cursor.execute(waiting) or cursor.rowcount, 10)
        return int(cursor.fetchall()[0][0])


def test_no_log_repeats_what_was_sent(planter: Planter) -> None:
    stack = planter.stack
    assert planter.send() == ACCEPTED
    with full_disk(stack, HEAP_BYTES):
        # Again, for a failed statement leaves room behind that the server finds later.
        wait_until(lambda: fill_reviews(stack) or planter.send_review() >= 500, 60)
    wait_until(lambda: planter.send() == ACCEPTED, 30)

    with closing(psycopg2.connect(stack.database_url)) as connection, connection.cursor() as cursor:
        cursor.execute("LOCK TABLE reviews, telemetry_inbox")
        assert planter.send() == [503, 503]
        connection.rollback()
        # A statement that is prepared already waits for the row alone, and holds the note.
        interaction_id = str(uuid.uuid4())
        cursor.execute(STORE_REVIEW, (str(stack.company.environment_id), interaction_id))
        with planter.in_background(interaction_id):
            os.kill(wait_for_statement(stack), signal.SIGKILL)
    wait_until(lambda: planter.send() == ACCEPTED, 30)

    # Without room for the write-ahead log the server ends with a PANIC, and would log its statement.
    with full_disk(stack, WAL_BYTES), pytest.raises(psycopg2.OperationalError):
        fill_wal_segment(stack)
    wait_until(lambda: planter.send() == ACCEPTED, 30)

    log = stack.postgres.log.read_text()
    for fault in ("could not extend file", "canceling statement", "terminated by signal 9", "PANIC:"):
        assert fault in log
    logs = [stack.postgres.log, stack.log, *stack.log.parent.glob("*.log")]
    for path in set(logs):
        content = path.read_text(errors="replace")
        assert [text for text in planter.planted() if text in content] == [], path
