"""Transactions: the only place that commits."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from sqlalchemy import exc
from sqlalchemy.orm import Session

from app.core.database.connection import CONNECTION_ERRORS
from app.core.database.engine import database, is_connection_failure
from app.core.database.prepared import PARAMETER, PreparedStatement

Row = TypeVar("Row")


_FAILURES = (*CONNECTION_ERRORS, exc.OperationalError, exc.InterfaceError)


class _UnitOfWork:
    """One transaction: its session, opened on first use, and the callbacks that follow its commit."""

    # A class, since a generator with contextlib costs a request three times as much.
    __slots__ = ("_token", "callbacks", "session")

    def __init__(self) -> None:
        self.session: Session | None = None
        self.callbacks: list[Callable[[], None]] = []

    def __enter__(self) -> None:
        self._token = _current.set(self)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            if self.session is not None and error is None:
                self.session.commit()
        except _FAILURES as failure:
            error = failure
            raise
        finally:
            try:
                if self.session is not None:
                    self.session.close()
            finally:
                _current.reset(self._token)
            if isinstance(error, _FAILURES) and is_connection_failure(error):
                database().raise_unavailable(error)
        if error is None:
            for callback in self.callbacks:
                callback()


_current: ContextVar[_UnitOfWork | None] = ContextVar("unit_of_work", default=None)


def transaction() -> AbstractContextManager[None]:
    """Run a block as one transaction; it is rolled back when the block raises."""
    return _UnitOfWork()


@contextmanager
def savepoint() -> Iterator[None]:
    """Run a block within the current transaction; what the block has done is undone when it raises."""
    unit = _unit()
    callback_count = len(unit.callbacks)
    try:
        with session().begin_nested():
            yield
    except BaseException:
        del unit.callbacks[callback_count:]
        raise


def roll_back() -> None:
    """Undo what the current transaction has done so far."""
    unit = _unit()
    unit.callbacks.clear()
    if unit.session is not None:
        unit.session.rollback()


def session() -> Session:
    """Return the session of the current transaction."""
    unit = _unit()
    if unit.session is None:
        unit.session = Session(database().sessions, expire_on_commit=False)
    return unit.session


def _unit() -> _UnitOfWork:
    unit = _current.get()
    if unit is None:
        raise RuntimeError("there is no transaction around this")
    return unit


def first_in_session(prepared: PreparedStatement[Row], **parameters: Any) -> Row | None:
    """Execute a prepared statement in the current session's transaction instead, and return its first row, or None."""
    session().flush()
    connection = session().connection()
    for statement in prepared.statements:
        sql = PARAMETER.sub(r"%(\1)s", statement.sql.replace("%", "%%"))
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
