"""The database behind a connection pooler in transaction mode, which keeps nothing of a session."""

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import psycopg2
import pytest
from flask import Flask
from sqlalchemy import text

from app import create_app
from app.core.database import PreparedStatement, Timeouts, session, transaction
from app.core.database.connection import has_pooler
from app.health.server_settings import list_warnings
from config.settings import Settings
from tests.pgbouncer import PgBouncer, running_pgbouncer

TIMEOUTS = Timeouts(statement_s=7.0, prepared_s=3.0)

SHOW_OPTIONS = """
    SELECT current_setting('statement_timeout') AS statement_timeout, current_setting('lock_timeout') AS lock_timeout,
        current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('timezone') AS timezone
"""
OPTIONS = PreparedStatement("test_options", SHOW_OPTIONS)
ECHO = PreparedStatement("test_echo", "SELECT :number::integer AS number, '100 %' LIKE '%\\%' AS has_percent")


@pytest.fixture(scope="module")
def pooler(settings: Settings, migrated_app: Flask, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PgBouncer]:
    with running_pgbouncer(settings.database_url, tmp_path_factory.mktemp("pgbouncer") / "log") as pgbouncer:
        yield pgbouncer


def app_behind(pooler: PgBouncer, settings: Settings, *, has_prepared_statements: bool) -> Flask:
    url = pooler.url.replace("postgresql://", "postgresql+psycopg2://")
    pooled = replace(settings, database_url=url, has_prepared_statements=has_prepared_statements)
    return create_app(pooled, timeouts=TIMEOUTS, serves_http=False)


def echo_in_threads(app: Flask) -> set[int]:
    """Run a statement again and again in more threads than the pooler has connections; returns what came back."""
    numbers: list[int] = []

    def run(first: int) -> None:
        with app.app_context():
            for number in range(first, first + 20):
                row = ECHO.first(number=number)
                assert row is not None
                assert row[1] is True
                numbers.append(row[0])
            app.extensions["database"].dispose()

    threads = [threading.Thread(target=run, args=(first,)) for first in range(0, 160, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return set(numbers)


def test_statements_run_unprepared(pooler: PgBouncer, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert echo_in_threads(app_behind(pooler, settings, has_prepared_statements=False)) == set(range(160))
    assert capsys.readouterr().err == ""


def test_with_the_wrong_setting_statements_run_all_the_same_and_the_log_names_the_setting(
    pooler: PgBouncer, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    app = app_behind(pooler, settings, has_prepared_statements=True)
    with app.app_context():
        assert ECHO.first(number=1) == (1, True)
        # The pooler gives it the server's connection that was used last, and the next statement another one.
        with closing(psycopg2.connect(pooler.url)) as other, other.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert ECHO.first(number=2) == (2, True)
        app.extensions["database"].dispose()
    assert echo_in_threads(app) == set(range(160))
    log = capsys.readouterr().err
    assert log.count("AGENT_FEEDBACK_PREPARED_STATEMENTS=false") == log.count("\n") == 1


def test_limits_hold_for_each_transaction_and_are_left_to_no_other_client(
    pooler: PgBouncer, settings: Settings
) -> None:
    app = app_behind(pooler, settings, has_prepared_statements=False)
    with app.app_context():
        assert OPTIONS.all() == [("2700ms", "2700ms", "1min", "UTC")]
        with transaction():
            assert session().execute(text(SHOW_OPTIONS)).one() == ("6300ms", "6300ms", "1min", "UTC")
        app.extensions["database"].dispose()
    connection = psycopg2.connect(pooler.url)
    connection.autocommit = True
    with connection.cursor() as cursor:
        for _ in range(5):
            cursor.execute(SHOW_OPTIONS)
            assert (cursor.fetchone() or ())[:2] == ("0", "0")
    connection.close()


def test_the_worker_warns_of_a_pooler_without_the_setting(pooler: PgBouncer, settings: Settings) -> None:
    warnings = {}
    for has_prepared_statements in (True, False):
        app = app_behind(pooler, settings, has_prepared_statements=has_prepared_statements)
        with app.app_context(), transaction():
            warnings[has_prepared_statements] = [line for line in list_warnings() if "pooler" in line]
        app.extensions["database"].dispose()
    assert warnings[False] == []
    assert "AGENT_FEEDBACK_PREPARED_STATEMENTS=false" in warnings[True][0]


def test_a_pooler_is_seen(pooler: PgBouncer, settings: Settings) -> None:
    direct_url = settings.database_url.replace("+psycopg2", "")
    for url, is_pooler in ((pooler.url, True), (direct_url, False)):
        connection = psycopg2.connect(url)
        assert has_pooler(connection) is is_pooler
        connection.close()
