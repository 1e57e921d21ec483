"""Runs the migrations: one runner at a time, and never waiting long for a lock that customers hold."""

import sys
from functools import partial

from alembic import context
from flask import current_app
from psycopg2.errors import InsufficientPrivilege
from sqlalchemy import Connection, create_engine, exc, pool, text

from app import models
from app.core.database.connection import has_pooler
from app.health.connections import database_error
from config.settings import Settings
from migrations.online import LOCK_TIMEOUT, LockUnavailable, lock_runner, retry

GRANTS = (
    "GRANT USAGE ON SCHEMA public TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
    "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}",
    "REVOKE INSERT, UPDATE, DELETE ON alembic_version FROM {role}",
)


def run() -> None:
    """Bring the database to the wanted revision."""
    settings: Settings = current_app.extensions["settings"]
    settings_by_url = {settings.database_url: "DATABASE_URL"}
    settings_by_url.setdefault(settings.migrations_database_url, "AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL")
    for url, setting in settings_by_url.items():
        if error := database_error(url, setting):
            sys.exit(error)
    # An engine of its own: a migration may take longer than any request.
    engine = create_engine(settings.migrations_database_url, poolclass=pool.NullPool, hide_parameters=True)
    try:
        with engine.connect() as connection:
            _require_session(connection, settings)
            _migrate(connection)
            if settings.migrations_database_url != settings.database_url:
                _grant(connection, _service_role(settings.database_url))
    except exc.ProgrammingError as error:
        if not isinstance(error.orig, InsufficientPrivilege):
            raise
        reason = str(error.orig).partition("\n")[0]
        sys.exit(f"PostgreSQL reports: {reason}; AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL has to name the tables' owner.")
    engine.dispose()


def _require_session(connection: Connection, settings: Settings) -> None:
    """End with a sentence where a pooler in transaction mode would lose the lock of the runner, or never release it."""
    driver_connection = connection.connection.driver_connection
    if not settings.has_prepared_statements and driver_connection is not None and has_pooler(driver_connection):
        sys.exit(
            "Migrations need a session of their own, and a connection pooler in transaction mode has none; "
            "set AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL to the address of PostgreSQL itself."
        )
    connection.rollback()


def _migrate(connection: Connection) -> None:
    try:
        lock_runner(connection)
        retry(partial(_run_missing, connection))
    except LockUnavailable as error:
        sys.exit(str(error))


def _run_missing(connection: Connection) -> None:
    """Run the migrations that are missing, each in its own transaction: those that have run are not run again."""
    connection.rollback()
    connection.execute(text(f"SET lock_timeout = '{LOCK_TIMEOUT}'; SET timezone = 'UTC'"))
    connection.commit()
    context.configure(
        connection=connection,
        target_metadata=models.METADATA,
        compare_type=True,
        compare_server_default=True,
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


def _service_role(database_url: str) -> str:
    """Return the role that a URL connects as; not every URL names it."""
    engine = create_engine(database_url, poolclass=pool.NullPool)
    with engine.connect() as connection:
        role: str = connection.execute(text("SELECT current_user")).scalar_one()
    return role


def _grant(connection: Connection, role: str) -> None:
    """Let the service's role read and write rows; it changes no table."""
    if connection.scalar(text("SELECT current_user")) == role:
        return
    quoted = connection.dialect.identifier_preparer.quote(role)
    for grant in GRANTS:
        connection.execute(text(grant.format(role=quoted)))
    connection.commit()


run()
