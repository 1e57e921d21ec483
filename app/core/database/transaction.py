"""Transactions: the only place that commits."""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

from sqlalchemy import exc
from sqlalchemy.orm import Session

from app.core.database.connection import CONNECTION_ERRORS
from app.core.database.engine import database, is_connection_failure
from app.core.database.prepared import PARAMETER, PreparedStatement

Row = TypeVar("Row")


class _UnitOfWork:
    """The session of one transaction, opened on first use, and the callbacks that follow its commit."""

    def __init__(self) -> None:
        self.session: Session | None = None
        self.callbacks: list[Callable[[], None]] = []


_current: ContextVar[_UnitOfWork | None] = ContextVar("unit_of_work", default=None)


@contextlib.contextmanager
def transaction() -> Iterator[None]:
    """Run a block as one transaction; it is rolled back when the block raises."""
    unit = _UnitOfWork()
    token = _current.set(unit)
    try:
        yield
        if unit.session is not None:
            unit.session.commit()
    except (*CONNECTION_ERRORS, exc.OperationalError, exc.InterfaceError) as error:
        if is_connection_failure(error):
            database().raise_unavailable(error)
        raise
    finally:
        if unit.session is not None:
            unit.session.close()
        _current.reset(token)
    for callback in unit.callbacks:
        callback()


def session() -> Session:
    """Return the session of the current transaction."""
    unit = _current.get()
    if unit is None:
        raise RuntimeError("there is no transaction around this")
    if unit.session is None:
        unit.session = Session(database().sessions, expire_on_commit=False)
    return unit.session


def first_in_session(prepared: PreparedStatement[Row], **parameters: Any) -> Row | None:
    """Execute a prepared statement in the current session's transaction instead, and return its first row, or None."""
    session().flush()
    connection = session().connection()
    for statement in prepared.statements:
        sql = PARAMETER.sub(r"%(\1)s", statement.sql)
        result = connection.exec_driver_sql(sql, {name: parameters[name] for name in statement.parameters})
    row = result.first()
    return None if row is None else prepared.make_row(*row)


def after_commit(callback: Callable[[], None]) -> None:
    """Call back once the current transaction is committed, or at once if there is none."""
    unit = _current.get()
    if unit is None:
        callback()
    else:
        unit.callbacks.append(callback)
