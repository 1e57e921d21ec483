"""Transactions and hot statements."""

import uuid
from datetime import UTC, datetime

import pytest
from flask import Flask
from sqlalchemy import func, select

from app import create_app
from app.accounts.models import Workspace
from app.core.database import HotStatement, after_commit, database, session, transaction
from app.core.errors import DatabaseAway
from config.settings import Settings

ONE = HotStatement("test_one", [], "SELECT 1")
ADD = HotStatement("test_add", ["integer", "integer"], "SELECT $1 + $2")


def add_workspace() -> None:
    session().add(Workspace(id=uuid.uuid4(), name="Example", created_at=datetime.now(UTC)))


def count_workspaces() -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(Workspace)) or 0


def test_a_transaction_commits_and_then_does_what_follows(app: Flask) -> None:
    seen: list[int] = []
    with transaction():
        add_workspace()
        after_commit(lambda: seen.append(count_workspaces()))
        assert seen == []
    assert seen == [1]


def test_a_failed_transaction_leaves_nothing_and_does_not_go_on(app: Flask) -> None:
    seen: list[int] = []

    def fail() -> None:
        with transaction():
            add_workspace()
            after_commit(lambda: seen.append(1))
            session().flush()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (count_workspaces(), seen) == (0, [])


def test_without_a_transaction_there_is_no_session(app: Flask) -> None:
    with pytest.raises(RuntimeError, match="no transaction"):
        session()


def test_a_hot_statement_takes_its_parameters(app: Flask) -> None:
    assert ONE.run() == [(1,)]
    assert ADD.run(2, 3) == [(5,)]
    assert ADD.run(4, 5) == [(9,)]


def test_a_hot_statement_survives_the_loss_of_its_connection(app: Flask) -> None:
    backend = HotStatement("test_pid", [], "SELECT pg_backend_pid()")
    before = backend.run()[0][0]
    with transaction():
        session().execute(select(func.pg_terminate_backend(before)))
    after = backend.run()[0][0]
    assert after != before


def test_a_statement_that_was_prepared_unnoticed_is_run(app: Flask) -> None:
    ONE.run()
    unnoticed = HotStatement("test_unnoticed", [], "SELECT 2")
    database()._hot.connection._cursor.execute(unnoticed.prepare)
    assert unnoticed.run() == [(2,)]


def test_a_statement_that_takes_too_long_is_given_up(app: Flask, settings: Settings) -> None:
    sleeper = HotStatement("test_sleep", [], "SELECT pg_sleep(5)")
    as_deployed = create_app(settings)
    with as_deployed.app_context(), pytest.raises(Exception, match=r"statement timeout|away"):
        sleeper.run()
    as_deployed.extensions["database"].dispose()


def test_a_database_that_is_away_is_not_asked_again_at_once(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    found = database()
    with pytest.raises(DatabaseAway):
        found.away(OSError())
    found._drop_hot()
    with pytest.raises(DatabaseAway):
        ONE.run()
    monkeypatch.setattr(found, "_away_until", 0.0)
    assert ONE.run() == [(1,)]
