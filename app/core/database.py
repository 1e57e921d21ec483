"""The database: one commit place, and hot statements that are prepared once per connection.

A pool of sessions serves everything that may read and think. The hot statements, each of which is a whole transaction
by itself, have a connection of every thread's own. No wait is endless: the server cancels statements and lock waits,
and the client gives up on a server that has stopped answering.
"""

import contextlib
import math
import select
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import psycopg2
import psycopg2.errors
import psycopg2.extensions
from flask import Flask, current_app
from psycopg2.extras import register_uuid
from sqlalchemy import MetaData, create_engine, exc
from sqlalchemy.orm import DeclarativeBase, Session

from app.core.errors import DatabaseAway
from config.settings import Settings

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

AWAY_PAUSE_S = 1.0
"""A database that could not be reached is not asked again for this long, so that its absence costs nobody a wait."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a process waits for the database, in seconds."""

    session_s: float
    """For one statement of a session."""
    connect_s: float = 1.2
    """For a connection, be it a new one or one from the pool."""
    hot_s: float = 1.2
    """A hot statement takes under a millisecond; with this limit a caller hears 503 in under two seconds."""


_AWAY = (psycopg2.OperationalError, psycopg2.InterfaceError, exc.OperationalError, exc.InterfaceError)


class Base(DeclarativeBase):
    """The base of all tables."""

    metadata = MetaData(naming_convention=NAMING)


class NoAnswer(psycopg2.OperationalError):
    """The server took longer than the connection was patient."""


class _Connection(psycopg2.extensions.connection):
    """A connection that knows how long its client waits for an answer."""

    def __init__(self, patience_s: float, *arguments: Any) -> None:
        self.patience_s = patience_s
        super().__init__(*arguments)


def _wait(connection: _Connection) -> None:
    """Wait for the server's answer, for as long as the connection is patient.

    psycopg2 calls this instead of blocking inside libpq, which would wait for a frozen server for ever; an exception
    from here closes the connection.
    """
    # psycopg2 calls this for every connection of the process; a migration's own waits as long as it takes.
    patience_s = connection.patience_s if isinstance(connection, _Connection) else math.inf
    deadline = time.monotonic() + patience_s
    poll = select.poll()
    while (state := connection.poll()) != psycopg2.extensions.POLL_OK:
        poll.register(connection.fileno(), select.POLLIN if state == psycopg2.extensions.POLL_READ else select.POLLOUT)
        left_s = deadline - time.monotonic()
        if not poll.poll(None if left_s == math.inf else max(0.0, left_s) * 1000):
            raise NoAnswer("the server did not answer in time")


class Database:
    """The database of one process."""

    def __init__(self, settings: Settings, patience: Patience) -> None:
        psycopg2.extensions.set_wait_callback(_wait)
        self._away_until = 0.0
        self._patience = patience
        self._hot = threading.local()
        # What a statement was given may be somebody's words; no error or log may hold it.
        self.sessions = create_engine(
            settings.database_url,
            pool_size=settings.pool_size,
            max_overflow=0,
            pool_timeout=patience.connect_s,
            pool_use_lifo=True,
            pool_pre_ping=True,
            hide_parameters=True,
            executemany_mode="values_plus_batch",
            creator=lambda: self._connect(patience.session_s),
        )
        self._arguments = self.sessions.dialect.create_connect_args(self.sessions.url)[1]

    def _connect(self, patience_s: float) -> _Connection:
        if time.monotonic() < self._away_until:
            raise psycopg2.OperationalError("the database was away a moment ago")
        connecting = partial(_Connection, self._patience.connect_s)
        connection = psycopg2.connect(
            **self._arguments, connection_factory=connecting, application_name="agent-feedback"
        )
        connection.patience_s = patience_s
        # The server stops first, so that the client hears a reason instead of losing its connection.
        timeout_ms = int(patience_s * 1000 * 0.9)
        with connection.cursor() as cursor:
            cursor.execute(
                f"SET statement_timeout = {timeout_ms}; SET lock_timeout = {timeout_ms};"
                "SET idle_in_transaction_session_timeout = '60s'; SET timezone = 'UTC'"
            )
        connection.commit()
        return connection

    def dispose(self) -> None:
        """Close the pooled connections and this thread's own."""
        self.sessions.dispose()
        self._drop_hot()

    def away(self, reason: BaseException) -> NoReturn:
        """Remember that the database is away, and say so. Who did not even ask does not prolong the pause."""
        if time.monotonic() >= self._away_until:
            self._away_until = time.monotonic() + AWAY_PAUSE_S
        raise DatabaseAway from reason

    def run_hot(self, statement: "HotStatement", parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run a hot statement; once more if this thread's connection turns out to be dead."""
        for is_last_try in (False, True):
            try:
                hot = getattr(self._hot, "connection", None) or self._open_hot()
            except _AWAY as error:
                self.away(error)
            try:
                return hot.run(statement, parameters)
            except psycopg2.errors.ReadOnlySqlTransaction as error:
                # The server was demoted; the one that took over is behind a new connection.
                self._drop_hot()
                self.away(error)
            except _AWAY as error:
                if not hot.is_dead:
                    raise
                self._drop_hot()
                # Who has waited in vain does not wait again.
                if is_last_try or isinstance(error, NoAnswer):
                    self.away(error)
        raise AssertionError("unreachable")

    def _open_hot(self) -> "_HotConnection":
        hot: _HotConnection = _HotConnection(self._connect(self._patience.hot_s))
        self._hot.connection = hot
        return hot

    def _drop_hot(self) -> None:
        hot: _HotConnection | None = getattr(self._hot, "connection", None)
        if hot is not None:
            hot.close()
            self._hot.connection = None


class _HotConnection:
    """One thread's connection in autocommit, and the statements it has seen."""

    def __init__(self, connection: _Connection) -> None:
        connection.autocommit = True
        register_uuid(conn_or_curs=connection)  # type: ignore[no-untyped-call]
        self._connection = connection
        self._cursor = connection.cursor()
        self._prepared: set[str] = set()

    @property
    def is_dead(self) -> bool:
        """Whether the connection is lost."""
        return self._connection.closed != 0

    def run(self, statement: "HotStatement", parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run a statement, preparing it if this connection has not seen it."""
        cursor = self._cursor
        if statement.name not in self._prepared:
            # A preparation that was cancelled too late is there all the same.
            with contextlib.suppress(psycopg2.errors.DuplicatePreparedStatement):
                cursor.execute(statement.prepare)
            self._prepared.add(statement.name)
        cursor.execute(statement.execute, parameters)
        return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        """Close it, whatever state it is in."""
        with contextlib.suppress(psycopg2.Error):
            self._connection.close()


class HotStatement:
    """One statement on a hot path: prepared once per connection, idempotent, a transaction by itself.

    `sql` has parameters $1, $2, …; `types` names their PostgreSQL types.
    """

    def __init__(self, name: str, types: Sequence[str], sql: str) -> None:
        taken, given = ", ".join(types), ", ".join(["%s"] * len(types))
        self.name = name
        self.prepare = f"PREPARE {name} {f'({taken})' if types else ''} AS {sql}"
        self.execute = f"EXECUTE {name} {f'({given})' if types else ''}"

    def run(self, *parameters: Any) -> list[tuple[Any, ...]]:
        """Run with these parameters and return the rows."""
        return database().run_hot(self, parameters)


class _Unit:
    """The work of one transaction, and what is to be done after its commit."""

    def __init__(self) -> None:
        self.session: Session | None = None
        self.after_commit: list[Callable[[], None]] = []


_unit: ContextVar[_Unit | None] = ContextVar("unit", default=None)


def install(app: Flask, settings: Settings, patience: Patience) -> Database:
    """Give the app its database."""
    made = app.extensions["database"] = Database(settings, patience)
    return made


def database() -> Database:
    """Return the database of the current app."""
    found: Database = current_app.extensions["database"]
    return found


@contextlib.contextmanager
def transaction() -> Iterator[None]:
    """Run a block as one transaction: the only place that commits."""
    unit = _Unit()
    token = _unit.set(unit)
    try:
        yield
        if unit.session is not None:
            unit.session.commit()
    except _AWAY as error:
        if _is_away(error):
            database().away(error)
        raise
    finally:
        if unit.session is not None:
            unit.session.close()
        _unit.reset(token)
    for deed in unit.after_commit:
        deed()


def _is_away(error: BaseException) -> bool:
    """Tell a lost server from a statement that the server itself stopped."""
    original = getattr(error, "orig", error)
    code = getattr(original, "pgcode", None)
    return code is None or str(code).startswith(("08", "57P"))


def session() -> Session:
    """Return the session of the current transaction."""
    unit = _unit.get()
    if unit is None:
        raise RuntimeError("there is no transaction around this")
    if unit.session is None:
        unit.session = Session(database().sessions, expire_on_commit=False)
    return unit.session


def after_commit(deed: Callable[[], None]) -> None:
    """Do something once the current transaction is committed, or at once if there is none."""
    unit = _unit.get()
    if unit is None:
        deed()
    else:
        unit.after_commit.append(deed)
