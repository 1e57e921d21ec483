"""The database of one process: a pool of sessions, and one connection per thread for prepared statements."""

import logging
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import psycopg2
import psycopg2.errors
import psycopg2.extensions
from flask import Flask, current_app
from sqlalchemy import Connection as SessionConnection
from sqlalchemy import QueuePool, create_engine, event, exc

from app.core.database.connection import (
    CONNECTION_ERRORS,
    Connection,
    ServerTimeout,
    options_sql,
    set_session_options,
    wait_for_answer,
)
from app.core.database.pool import observed_pool
from app.core.database.prepared import Parameters, PreparedConnection, PreparedStatement, Rows, UnpreparedConnection
from app.core.errors import DatabaseUnavailable
from app.core.metrics.counting import Metrics, find_metrics
from app.core.metrics.families import POOL_USED
from config.settings import Settings

logger = logging.getLogger(__name__)

RETRY_AFTER_FAILURE_S = 1.0
"""An unreachable database is not tried again for this long, so that its absence costs no request a wait."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a process waits for the database, in seconds."""

    statement_s: float
    """One statement of a session."""
    connect_s: float = 1.2
    """A connection, be it a new one or one from the pool."""
    prepared_s: float = 1.2
    """A prepared statement takes under a millisecond; with this limit a caller hears 503 in under two seconds."""


class Database:
    """The database of one process."""

    def __init__(self, settings: Settings, timeouts: Timeouts, metrics: Metrics | None = None) -> None:
        psycopg2.extensions.set_wait_callback(wait_for_answer)
        self._unavailable_until = 0.0
        self._timeouts = timeouts
        self._has_prepared_statements = settings.has_prepared_statements
        self._thread = threading.local()
        # A statement's parameters may be somebody's words; no error or log may hold them.
        self.sessions = create_engine(
            settings.database_url,
            poolclass=observed_pool(metrics) if metrics else QueuePool,
            pool_size=settings.pool_size,
            max_overflow=0,
            pool_timeout=timeouts.connect_s,
            pool_use_lifo=True,
            pool_pre_ping=True,
            hide_parameters=True,
            executemany_mode="values_plus_batch",
            creator=lambda: self._connect(timeouts.statement_s),
        )
        event.listen(self.sessions, "begin", self._set_transaction_options)
        if metrics:
            event.listen(self.sessions, "checkout", lambda *_: metrics.count(POOL_USED))
            event.listen(self.sessions, "checkin", lambda *_: metrics.count(POOL_USED, amount=-1))
        self._arguments = self.sessions.dialect.create_connect_args(self.sessions.url)[1]

    def dispose(self) -> None:
        """Close the pooled connections and this thread's own."""
        self.sessions.dispose()
        self._close_prepared()

    def raise_unavailable(self, reason: BaseException) -> NoReturn:
        """Remember that the database is unavailable, and raise `DatabaseUnavailable`."""
        # A failure that was not tried does not prolong the pause.
        if time.monotonic() >= self._unavailable_until:
            self._unavailable_until = time.monotonic() + RETRY_AFTER_FAILURE_S
        raise DatabaseUnavailable from reason

    def execute_prepared(self, statement: PreparedStatement[Any], parameters: Parameters) -> Rows:
        """Execute a prepared statement; once more if this thread's connection turns out to be dead."""
        for is_last_try in (False, True):
            try:
                connection = getattr(self._thread, "connection", None) or self._open_prepared()
            except CONNECTION_ERRORS as error:
                self.raise_unavailable(error)
            try:
                return connection.execute(statement, parameters)
            except psycopg2.errors.InvalidSqlStatementName:
                self._close_prepared()
                self._stop_preparing()
                return self.execute_prepared(statement, parameters)
            except psycopg2.errors.ReadOnlySqlTransaction as error:
                # The server was demoted; the one that took over is behind a new connection.
                self._close_prepared()
                self.raise_unavailable(error)
            except CONNECTION_ERRORS as error:
                if not connection.is_closed:
                    raise
                self._close_prepared()
                # A caller that has waited in vain does not wait again.
                if is_last_try or isinstance(error, ServerTimeout):
                    self.raise_unavailable(error)
        raise AssertionError("unreachable")

    def _connect(self, timeout_s: float) -> Connection:
        if time.monotonic() < self._unavailable_until:
            raise psycopg2.OperationalError("the database was unavailable a moment ago")
        connection = psycopg2.connect(
            **self._arguments,
            connection_factory=partial(Connection, self._timeouts.connect_s),
            application_name="agent-feedback",
        )
        connection.timeout_s = timeout_s
        if self._has_prepared_statements:
            set_session_options(connection, timeout_s)
        return connection

    def _open_prepared(self) -> PreparedConnection:
        connection_type = PreparedConnection if self._has_prepared_statements else UnpreparedConnection
        connection = connection_type(self._connect(self._timeouts.prepared_s))
        self._thread.connection = connection
        return connection

    def _set_transaction_options(self, connection: SessionConnection) -> None:
        """Set the limits of a transaction where the server keeps none of a session."""
        if not self._has_prepared_statements:
            connection.exec_driver_sql(options_sql("SET LOCAL", self._timeouts.statement_s))

    def _stop_preparing(self) -> None:
        """Prepare no statement from now on, since the server has lost one, and log why."""
        if self._has_prepared_statements:
            logger.error(
                "the database has lost a prepared statement: a connection pooler in transaction mode needs "
                "AGENT_FEEDBACK_PREPARED_STATEMENTS=false, which this process goes on with"
            )
        self._has_prepared_statements = False

    def _close_prepared(self) -> None:
        connection: PreparedConnection | None = getattr(self._thread, "connection", None)
        if connection is not None:
            connection.close()
            self._thread.connection = None


def install(app: Flask, settings: Settings, timeouts: Timeouts) -> None:
    """Give the app its database."""
    app.extensions["database"] = Database(settings, timeouts, find_metrics(app))


def database() -> Database:
    """Return the database of the current app."""
    extension: Database = current_app.extensions["database"]
    return extension


def is_connection_failure(error: BaseException) -> bool:
    """Tell a lost server from a statement that the server itself stopped."""
    if not isinstance(error, (*CONNECTION_ERRORS, exc.OperationalError, exc.InterfaceError)):
        return False
    original = getattr(error, "orig", error)
    code = getattr(original, "pgcode", None)
    return code is None or str(code).startswith(("08", "57P"))
