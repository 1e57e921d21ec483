"""psycopg2 connections with a time-out for every wait.

The server cancels statements and lock waits; the client gives up on a server that has stopped answering.
"""

import math
import select
import time
from typing import Any

import psycopg2
import psycopg2.extensions

CONNECTION_ERRORS = (psycopg2.OperationalError, psycopg2.InterfaceError)


class ServerTimeout(psycopg2.OperationalError):
    """The server did not answer within the connection's time-out."""


class Connection(psycopg2.extensions.connection):
    """A connection whose client waits `timeout_s` seconds for each answer."""

    def __init__(self, timeout_s: float, *arguments: Any) -> None:
        self.timeout_s = timeout_s
        super().__init__(*arguments)


def wait_for_answer(connection: psycopg2.extensions.connection) -> None:
    """Wait for the server's answer, or raise `ServerTimeout`, which closes the connection.

    psycopg2 calls this instead of blocking inside libpq, which would wait for a frozen server for ever.
    """
    # psycopg2 calls this for every connection of the process; Alembic's own connections have no time-out.
    timeout_s = connection.timeout_s if isinstance(connection, Connection) else math.inf
    deadline = time.monotonic() + timeout_s
    poll = select.poll()
    while (state := connection.poll()) != psycopg2.extensions.POLL_OK:
        poll.register(connection.fileno(), select.POLLIN if state == psycopg2.extensions.POLL_READ else select.POLLOUT)
        remaining_s = deadline - time.monotonic()
        if not poll.poll(None if remaining_s == math.inf else max(0.0, remaining_s) * 1000):
            raise ServerTimeout("the server did not answer in time")


def set_session_options(connection: Connection, timeout_s: float) -> None:
    """Set the server's own limits and the time zone of a new connection, for as long as it lasts."""
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(options_sql("SET", timeout_s))
    connection.autocommit = False


def options_sql(command: str, timeout_s: float) -> str:
    """Return the statements that set the server's own limits and the time zone.

    `SET` holds for the session, `SET LOCAL` for the transaction, which is all that a pooler in transaction mode keeps.
    """
    # The server stops first, so that the client hears a reason instead of losing its connection.
    timeout_ms = int(timeout_s * 1000 * 0.9)
    return (
        f"{command} statement_timeout = {timeout_ms}; {command} lock_timeout = {timeout_ms}; "
        f"{command} idle_in_transaction_session_timeout = '60s'; {command} timezone = 'UTC';"
    )


def has_pooler(connection: psycopg2.extensions.connection) -> bool:
    """Tell whether a connection pooler answers instead of PostgreSQL: it gives its clients a process id of its own."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (server_pid,) = cursor.fetchone() or (None,)
    return bool(server_pid != connection.get_backend_pid())
