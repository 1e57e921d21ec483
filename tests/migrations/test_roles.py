"""The service's role reads and writes rows, and changes nothing else."""

import secrets

import flask_migrate
import psycopg2.errors
import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from flask import Flask
from sqlalchemy import create_engine, exc, text

from app import create_app
from app.cli import migrations
from app.cli.dev.postgres import OWNER, SERVICE
from app.core.database import session, transaction
from app.health.service import MIGRATIONS
from config.settings import Settings
from tests.conftest import Servers, environment

GRANTEES = f"""
    SELECT DISTINCT grantee FROM information_schema.role_table_grants
    WHERE table_schema = 'public' AND grantee <> '{OWNER}'
"""


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE anything ()",
        "ALTER TABLE reviews ADD COLUMN anything integer",
        "ALTER TABLE reviews DISABLE TRIGGER ALL",
        "DROP TABLE reviews",
        "TRUNCATE reviews",
        "DELETE FROM alembic_version",
        "CREATE ROLE anybody",
        "COPY reviews TO PROGRAM 'true'",
        "SET ROLE agent_feedback_owner",
    ],
)
def test_the_service_cannot_change_tables(app: Flask, servers: Servers, statement: str) -> None:
    if not servers.has_roles:
        pytest.skip("a named server has one role")
    with pytest.raises(exc.ProgrammingError) as error, transaction():
        session().execute(text(statement))
    assert isinstance(error.value.orig, psycopg2.errors.InsufficientPrivilege)


def test_a_url_without_a_role_name_grants_nothing_to_everybody(servers: Servers) -> None:
    if not servers.has_roles:
        pytest.skip("a named server has one role")
    url = servers.database(f"test_{secrets.token_hex(4)}")
    nameless_url = url.replace(f"{SERVICE}@", "") + f"&user={SERVICE}"
    environ = {**environment(servers, url), "DATABASE_URL": nameless_url}
    app = create_app(Settings.from_env(environ), serves_http=False)
    with app.app_context():
        migrations.upgrade()
        with transaction():
            grantees = set(session().scalars(text(GRANTEES)))
    app.extensions["database"].dispose()
    assert grantees == {SERVICE}


def test_the_old_release_may_use_the_view_from_the_transaction_that_makes_it(servers: Servers) -> None:
    if not servers.has_roles:
        pytest.skip("a named server has one role")
    app = create_app(
        Settings.from_env(environment(servers, servers.database(f"test_{secrets.token_hex(4)}"))), serves_http=False
    )
    revisions = ScriptDirectory(str(MIGRATIONS)).walk_revisions()
    revision = next(revision for revision in revisions if revision.path.endswith("_uncounted_days.py"))
    with app.app_context():
        # What the runner grants after it has run the migrations before.
        migrations._install()
        flask_migrate.upgrade(revision=revision.down_revision)
        engine = create_engine(app.extensions["settings"].migrations_database_url)
        with engine.connect() as connection, Operations.context(MigrationContext.configure(connection)):
            revision.module.upgrade()
            for right in ("SELECT", "INSERT", "UPDATE", "DELETE"):
                statement = text("SELECT has_table_privilege(:role, 'day_marks', :right)")
                assert connection.scalar(statement, {"role": SERVICE, "right": right})
        engine.dispose()
    app.extensions["database"].dispose()
