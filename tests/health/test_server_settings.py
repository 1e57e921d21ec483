"""Warnings about settings of the database server."""

import re
from collections.abc import Iterator
from contextlib import closing

import psycopg2
import pytest
from flask import Flask
from sqlalchemy import make_url

from app import create_app
from app.core.database import transaction
from app.health.server_settings import list_warnings
from config.settings import Settings
from tests.conftest import Servers, environment


@pytest.fixture
def logging_role(servers: Servers, settings: Settings) -> Iterator[str]:
    """A superuser whose statements the server logs."""
    with closing(psycopg2.connect(servers.database_url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        cursor.execute("CREATE ROLE logging_role LOGIN SUPERUSER")
        cursor.execute(
            "ALTER ROLE logging_role SET log_min_duration_statement = '0';"
            "ALTER ROLE logging_role SET log_statement = 'all'"
        )
        yield "logging_role"
        cursor.execute("DROP ROLE logging_role")


def warnings_of(app: Flask) -> list[str]:
    with app.app_context(), transaction():
        warnings = list_warnings()
    app.extensions["database"].dispose()
    return warnings


def test_the_embedded_server_needs_no_change(app: Flask, servers: Servers) -> None:
    if servers.has_roles:
        assert list_warnings_of_session() == []


def list_warnings_of_session() -> list[str]:
    with transaction():
        return list_warnings()


def test_the_warning_holds_the_statements_that_silence_the_log(
    app: Flask, servers: Servers, settings: Settings, logging_role: str
) -> None:
    url = make_url(settings.database_url).set(drivername="postgresql", username=logging_role)
    role_settings = Settings.from_env(environment(servers, url.render_as_string(hide_password=False)))
    log_warning, role_warning = warnings_of(create_app(role_settings, serves_http=False))
    assert role_warning.startswith(
        "The role logging_role can create or change tables; set AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL"
    )
    statements = re.findall(r"ALTER ROLE [^;]+;", log_warning)
    assert [statement for statement in statements if "log_statement = 'none'" in statement]
    assert [statement for statement in statements if "log_min_duration_statement = '-1'" in statement]
    with closing(psycopg2.connect(servers.database_url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        for statement in statements:
            cursor.execute(statement)
    assert warnings_of(create_app(role_settings, serves_http=False)) == [role_warning]
