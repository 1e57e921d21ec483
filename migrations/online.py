"""What lets a migration run while the service is used."""

import logging
import time
from collections.abc import Callable

from alembic import op
from sqlalchemy import Connection, exc, text

LOCK_TIMEOUT = "250ms"
"""How long a migration waits for a lock, since every request that needs the table waits behind it."""

MAX_PAUSE_S = 10.0
GIVE_UP_AFTER_S = 600.0
"""A release that waits for longer should fail and be looked at."""

RUNNER_LOCK = 4_021_970_001
"""Any number will do, as long as every release uses the same one."""

LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED = "55P03", "40P01"

logger = logging.getLogger("alembic.runtime.migration")


class LockUnavailable(Exception):
    """A migration did not get its lock, however often it was tried; the message says what to do."""


def lock_runner(connection: Connection) -> None:
    """Wait until no other runner is at work, and keep others waiting for as long as the connection lives.

    It asks again and again: a statement that waits has a snapshot, which CREATE INDEX CONCURRENTLY would wait for.
    """
    deadline = time.monotonic() + GIVE_UP_AFTER_S
    while not connection.scalar(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": RUNNER_LOCK}):
        connection.commit()
        if time.monotonic() > deadline:
            raise LockUnavailable("Another flask db upgrade has been running for ten minutes; look at it first.")
        time.sleep(0.2)
    connection.commit()


def retry(attempt: Callable[[], None], pause: Callable[[float], None] = time.sleep) -> None:
    """Call `attempt` until it gets its locks; the pauses let the requests through that have waited behind it."""
    pause_s, waited_s = 0.5, 0.0
    while True:
        try:
            return attempt()
        except exc.OperationalError as error:
            if getattr(error.orig, "pgcode", None) not in (LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED):
                raise
            if waited_s >= GIVE_UP_AFTER_S:
                raise LockUnavailable(
                    "A migration did not get its lock within ten minutes, since a long transaction holds it. What ran "
                    'before it is done; "Migrations under traffic" in docs/operations.md says how to find that '
                    "transaction. Then run flask db upgrade again."
                ) from error
        logger.warning("another transaction holds the lock of this migration; trying again in %s s", pause_s)
        pause(pause_s)
        waited_s += pause_s
        pause_s = min(2 * pause_s, MAX_PAUSE_S)


def create_index(name: str, on: str, *, is_unique: bool = False) -> None:
    """Create an index on a full table while it is written to; `on` is what follows ON, as in `reviews (created_at)`.

    It commits the transaction of the migration, so it is best the only thing that a migration does.
    """
    context = op.get_context()
    with context.autocommit_block():
        # It waits for transactions that began before it, and nobody waits behind it.
        op.execute("SET lock_timeout = '10min'")
        # A run that was killed leaves an invalid index behind, which costs every write and serves no read.
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        op.execute(f"CREATE {'UNIQUE ' if is_unique else ''}INDEX CONCURRENTLY {name} ON {on}")
        op.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
