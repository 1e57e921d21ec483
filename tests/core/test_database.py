"""Transactions and prepared statements."""

import uuid
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app import create_app
from app.accounts.models import Workspace
from app.core.database import PreparedStatement, after_commit, database, savepoint, session, transaction
from app.core.errors import DatabaseUnavailable
from config.settings import Settings

SELECT_ONE = PreparedStatement("test_one", "SELECT 1 AS number")
SUM = PreparedStatement("test_sum", "SELECT :first::integer + :second::integer AS sum")


def add_workspace() -> None:
    session().add(Workspace(id=uuid.uuid4(), name="Example", created_at=datetime.now(UTC)))


def count_workspaces() -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(Workspace)) or 0


def test_a_transaction_commits_and_then_does_what_follows(app: Flask) -> None:
    events: list[int] = []
    with transaction():
        add_workspace()
        after_commit(lambda: events.append(count_workspaces()))
        assert events == []
    assert events == [1]


def test_a_failed_savepoint_takes_back_only_its_own_part(app: Flask) -> None:
    events: list[int] = []

    def fail() -> None:
        with savepoint():
            add_workspace()
            after_commit(lambda: events.append(2))
            raise KeyError

    with transaction():
        add_workspace()
        after_commit(lambda: events.append(1))
        with pytest.raises(KeyError):
            fail()
    assert count_workspaces() == 1
    assert events == [1]


def test_a_session_that_cannot_be_closed_ends_its_transaction(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Session) -> None:
        raise OSError("not closed")

    monkeypatch.setattr(Session, "close", fail)
    with pytest.raises(OSError, match="not closed"), transaction():
        session()
    with pytest.raises(RuntimeError, match="no transaction"):
        session()


def test_a_failed_transaction_leaves_nothing_and_does_not_go_on(app: Flask) -> None:
    events: list[int] = []

    def fail() -> None:
        with transaction():
            add_workspace()
            after_commit(lambda: events.append(1))
            session().flush()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (count_workspaces(), events) == (0, [])


def test_without_a_transaction_there_is_no_session(app: Flask) -> None:
    with pytest.raises(RuntimeError, match="no transaction"):
        session()


def test_a_prepared_statement_takes_its_parameters_by_name(app: Flask) -> None:
    assert SELECT_ONE.all() == [(1,)]
    assert SUM.all(first=2, second=3) == [(5,)]
    assert SUM.first(second=5, first=4) == (9,)


def test_a_parameter_may_stand_twice_beside_a_cast(app: Flask) -> None:
    statement = PreparedStatement("test_twice", "SELECT :number::integer AS number, :number + 1 AS next")
    assert statement.first(number=3) == (3, 4)


def test_a_parameter_that_is_missing_or_unknown_is_a_mistake_of_ours(app: Flask) -> None:
    with pytest.raises(KeyError):
        SUM.first(first=1)
    with pytest.raises(TypeError, match="third"):
        SUM.first(first=1, second=2, third=3)


class Numbers(NamedTuple):
    """A row."""

    first: int
    second: int


def test_rows_become_their_type(app: Flask) -> None:
    statement = PreparedStatement("test_row", "SELECT 1 AS first, 2 AS second", row=Numbers)
    assert statement.first() == Numbers(1, 2)
    assert statement.all() == [Numbers(1, 2)]


def test_a_row_type_with_other_columns_is_found_at_once(app: Flask) -> None:
    statement = PreparedStatement("test_other_row", "SELECT 1 AS second, 2 AS first", row=Numbers)
    with pytest.raises(TypeError, match="test_other_row"):
        statement.first()


def test_a_prepared_statement_survives_the_loss_of_its_connection(app: Flask) -> None:
    backend = PreparedStatement("test_pid", "SELECT pg_backend_pid()")
    first_backend = backend.all()[0][0]
    with transaction():
        session().execute(select(func.pg_terminate_backend(first_backend)))
    second_backend = backend.all()[0][0]
    assert second_backend != first_backend


def test_a_statement_that_was_prepared_unnoticed_is_run(app: Flask) -> None:
    SELECT_ONE.all()
    unseen_statement = PreparedStatement("test_unnoticed", "SELECT 2")
    database()._thread.connection._cursor.execute(unseen_statement.prepare)
    assert unseen_statement.all() == [(2,)]


def test_a_statement_that_takes_too_long_is_given_up(app: Flask, settings: Settings) -> None:
    sleeper = PreparedStatement("test_sleep", "SELECT pg_sleep(5)")
    as_deployed = create_app(settings)
    with as_deployed.app_context(), pytest.raises(Exception, match=r"statement timeout|unavailable"):
        sleeper.all()
    as_deployed.extensions["database"].dispose()


def test_an_unavailable_database_is_not_asked_again_at_once(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    current = database()
    with pytest.raises(DatabaseUnavailable):
        current.raise_unavailable(OSError())
    current._close_prepared()
    with pytest.raises(DatabaseUnavailable):
        SELECT_ONE.all()
    monkeypatch.setattr(current, "_unavailable_until", 0.0)
    assert SELECT_ONE.all() == [(1,)]
