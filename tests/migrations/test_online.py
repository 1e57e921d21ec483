"""Migrations that run while the service is used."""

import secrets
from collections.abc import Iterator

import psycopg2.errors
import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, exc, text

from app.health.service import MIGRATIONS
from config.settings import Settings
from migrations.online import GIVE_UP_AFTER_S, LockUnavailable, create_index, retry
from tests.conftest import Servers, environment
from tests.migrations.blocking import list_mistakes, list_statements

LAST_BEFORE_TRAFFIC = 24
"""The migrations up to this one ran before there was traffic."""


@pytest.fixture
def connection(servers: Servers) -> Iterator[Connection]:
    environ = environment(servers, servers.database(f"test_{secrets.token_hex(4)}"))
    engine = create_engine(Settings.from_env(environ).migrations_database_url)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def test_no_migration_blocks_requests_or_breaks_the_release_before() -> None:
    for revision in ScriptDirectory(str(MIGRATIONS)).walk_revisions():
        # A migration that must block says why in `BLOCKS_BECAUSE`.
        if int(revision.revision) > LAST_BEFORE_TRAFFIC and not getattr(revision.module, "BLOCKS_BECAUSE", ""):
            assert list(list_mistakes(list_statements(revision.module), revision.doc)) == [], revision.path


def test_the_statements_of_a_migration_are_read() -> None:
    renaming = ScriptDirectory(str(MIGRATIONS)).get_revision("0020")
    mistakes = list(list_mistakes(list_statements(renaming.module)))
    assert [mistake.partition(":")[0] for mistake in mistakes] == [
        "ALTER TABLE audit_entries RENAME COLUMN deed TO action",
        "ALTER TABLE promotions RENAME COLUMN noted_at TO created_at",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE INDEX ix_a ON reviews (created_at)",
        "CREATE UNIQUE INDEX ix_a ON reviews (created_at)",
        "ALTER TABLE reviews ALTER COLUMN note TYPE varchar",
        "ALTER TABLE reviews ADD COLUMN a integer, ALTER COLUMN note SET NOT NULL",
        "ALTER TABLE reviews ADD CONSTRAINT ck_a CHECK (a > 0)",
        "ALTER TABLE reviews ADD CONSTRAINT fk_a FOREIGN KEY (a) REFERENCES b (a)",
        "ALTER TABLE reviews ADD CONSTRAINT uq_a UNIQUE (a)",
        "ALTER TABLE reviews ADD COLUMN a uuid DEFAULT gen_random_uuid()",
        "ALTER TABLE reviews ADD COLUMN a integer NOT NULL",
        "ALTER TABLE reviews RENAME COLUMN a TO b",
        "ALTER TABLE reviews DROP COLUMN a",
        "DROP TABLE reviews",
        "UPDATE reviews SET a = 1",
    ],
)
def test_what_blocks_or_breaks_is_found(statement: str) -> None:
    assert len(list(list_mistakes([statement]))) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE INDEX CONCURRENTLY ix_a ON reviews (created_at)",
        "ALTER TABLE reviews ADD COLUMN a integer NOT NULL DEFAULT 0, ADD COLUMN b text",
        "ALTER TABLE reviews ADD CONSTRAINT ck_a CHECK (a > 0) NOT VALID",
        "ALTER TABLE reviews VALIDATE CONSTRAINT ck_a",
        "ALTER TABLE reviews ADD CONSTRAINT uq_a UNIQUE USING INDEX ix_a",
        "ALTER TABLE keys ALTER COLUMN kind SET NOT NULL",
    ],
)
def test_what_neither_blocks_nor_breaks_is_allowed(statement: str) -> None:
    assert list(list_mistakes([statement])) == []
    new_table = [
        "CREATE TABLE a (b integer)",
        "CREATE INDEX ix_b ON a (b)",
        "ALTER TABLE a ALTER COLUMN b SET NOT NULL",
    ]
    assert list(list_mistakes(new_table)) == []
    assert list(list_mistakes(["DROP TABLE a"], "Drop a.\n\nContract: unused since 1.4.")) == []


def test_a_lock_that_never_comes_ends_the_run_with_what_to_do() -> None:
    pauses: list[float] = []

    def attempt() -> None:
        raise exc.OperationalError("ALTER TABLE", None, lock_not_available())

    with pytest.raises(LockUnavailable, match="did not get its lock within ten minutes"):
        retry(attempt, pauses.append)
    assert sum(pauses) >= GIVE_UP_AFTER_S
    assert len(pauses) < 100


def test_another_error_is_not_tried_again() -> None:
    def attempt() -> None:
        raise exc.OperationalError("SELECT", None, psycopg2.errors.AdminShutdown())

    with pytest.raises(exc.OperationalError):
        retry(attempt, lambda _: pytest.fail("it was tried again"))


def lock_not_available() -> psycopg2.Error:
    """Return the error of a lock that was waited for in vain; only the driver can set its code."""
    error = psycopg2.errors.LockNotAvailable()
    error.__setstate__({"pgcode": "55P03"})
    return error


def test_an_index_that_a_killed_run_has_left_invalid_is_made_anew(connection: Connection) -> None:
    connection.execute(text("CREATE TABLE a (b integer)"))
    connection.execute(text("INSERT INTO a VALUES (1), (1)"))
    connection.commit()
    context = MigrationContext.configure(connection, opts={"transaction_per_migration": True})
    with Operations.context(context):
        for _ in range(2):
            # Ends as a killed run does: with an index that is invalid.
            with pytest.raises(exc.IntegrityError), context.begin_transaction(_per_migration=True):
                create_index("ix_a", "a (b)", is_unique=True)
            connection.rollback()
            assert is_valid(connection) is False
        connection.execute(text("DELETE FROM a"))
        connection.commit()
        for _ in range(2):
            with context.begin_transaction(_per_migration=True):
                create_index("ix_a", "a (b)", is_unique=True)
            assert is_valid(connection) is True


def is_valid(connection: Connection) -> bool:
    valid: bool = connection.scalar(text("SELECT indisvalid FROM pg_index WHERE indexrelid = 'ix_a'::regclass"))
    connection.commit()
    return valid
