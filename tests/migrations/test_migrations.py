"""The migrations, from an empty database."""

import re
import secrets
import threading
import time

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text

from app import create_app
from app.cli import migrations
from app.health.service import MIGRATIONS
from app.models import METADATA
from config.settings import Settings
from tests.conftest import Servers, environment


@pytest.fixture
def empty(servers: Servers) -> Settings:
    return Settings.from_env(environment(servers, servers.database(f"test_{secrets.token_hex(4)}")))


def test_an_empty_database_becomes_what_the_models_say(empty: Settings) -> None:
    app = create_app(empty)
    with app.app_context():
        migrations.upgrade()
        migrations.upgrade()
    engine = create_engine(empty.database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "target_metadata": METADATA}
        )
        assert compare_metadata(context, METADATA) == []
        constraint_names = {
            row[0] for row in connection.execute(text("SELECT conname FROM pg_constraint WHERE contype <> 'n'"))
        }
    engine.dispose()
    app.extensions["database"].dispose()
    model_names = {str(constraint.name) for table in METADATA.sorted_tables for constraint in table.constraints}
    assert model_names <= constraint_names


def test_migrations_are_numbered_without_a_gap() -> None:
    script = ScriptDirectory(str(MIGRATIONS))
    revisions = [revision.revision for revision in script.walk_revisions()]
    assert revisions == [f"{number:04d}" for number in range(len(revisions), 0, -1)]
    for path in (MIGRATIONS / "versions").glob("*.py"):
        assert re.fullmatch(r"\d{4}_[a-z_]+\.py", path.name)


def test_each_migration_says_what_it_is_for() -> None:
    for revision in ScriptDirectory(str(MIGRATIONS)).walk_revisions():
        assert revision.doc


def test_a_second_runner_waits_for_the_first(empty: Settings) -> None:
    app = create_app(empty)
    engine = create_engine(empty.database_url)
    with engine.connect() as first:
        first.execute(text("SELECT pg_advisory_lock(4021970001)"))
        release = threading.Timer(3, first.execute, [text("SELECT pg_advisory_unlock(4021970001)")])
        release.start()
        started_at = time.monotonic()
        with app.app_context():
            migrations.upgrade()
        assert time.monotonic() - started_at >= 2.5
        release.join()
    engine.dispose()
    app.extensions["database"].dispose()
