"""Real servers for every test that touches them: PostgreSQL and Valkey from their wheels, or those that are named."""

import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL, make_url

from app import create_app
from app.cli import migrations
from app.cli.dev.postgres import OWNER, SERVICE, EmbeddedPostgres
from app.cli.dev.server_process import socket_folder
from app.cli.dev.valkey import EmbeddedValkey
from app.core.database import Timeouts, transaction
from app.models import METADATA
from config.secret_rings import DEVELOPMENT_PREFIX
from config.settings import Settings
from tests.context_api import Clock, ContextApi
from tests.factories import TEST_URL, Company, create_company
from tests.tenancy.recorder import recording
from tests.tenancy.statements import require_tenants

pytest_plugins = [
    "tests.accounts.fixtures",
    "tests.accounts.providers",
    "tests.journeys.fixtures",
    "tests.reading.fixtures",
    "tests.exports.fixtures",
]

FILLED = text(" UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in METADATA.tables))
"""Asks once which tables have rows: every test does so."""

ROOT = Path(__file__).resolve().parents[1]

NO_DATA_DIR = "/nonexistent"

MAX_ID_CHARACTERS = 100
"""Of a parameter in a test's name, which pytest also puts into the environment of every program that a test starts."""


@dataclass(frozen=True)
class Servers:
    """Where the database server and the broker of a test run are."""

    database_url: str
    """The URL of the server's administrator."""
    broker_url: str
    has_roles: bool = False
    """Whether tables have an owner apart from the service's role; not so on a named server, which has one role."""

    def database(self, name: str) -> str:
        """Make a fresh database and return the service's URL of it."""
        url = make_url(self.database_url.replace("postgres://", "postgresql://")).set(drivername="postgresql+psycopg2")
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))
            connection.execute(text(f'CREATE DATABASE "{name}"' + (f" OWNER {OWNER}" if self.has_roles else "")))
        engine.dispose()
        return _url(url.set(database=name), SERVICE if self.has_roles else None)

    def migrations_url(self, database_url: str) -> str:
        """Return the URL of the same database for its migrations."""
        return _url(make_url(database_url), OWNER if self.has_roles else None)


def _url(url: URL, role: str | None) -> str:
    return url.set(username=role or url.username, drivername="postgresql").render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder, sockets = tmp_path_factory.mktemp("servers"), socket_folder()
    database_url, broker_url = os.environ.get("DATABASE_URL"), os.environ.get("REDIS_URL")
    postgres = EmbeddedPostgres(folder / "postgres", sockets, folder / "postgres.log", is_durable=False)
    valkey = EmbeddedValkey(sockets, folder / "valkey.log")
    try:
        if not database_url:
            postgres.start()
        if not broker_url:
            valkey.start()
        yield Servers(database_url or postgres.url(), broker_url or valkey.url, has_roles=not database_url)
    finally:
        valkey.stop()
        postgres.stop()
        shutil.rmtree(sockets)


def environment(servers: Servers, database_url: str) -> dict[str, str]:
    """Return the environment of a development copy on these servers."""
    return {
        "AGENT_FEEDBACK_ENV": "development",
        "DATABASE_URL": database_url,
        "AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL": servers.migrations_url(database_url),
        "REDIS_URL": servers.broker_url,
        "AGENT_FEEDBACK_PUBLIC_URL": TEST_URL,
        "AGENT_FEEDBACK_KEY_PEPPER": DEVELOPMENT_PREFIX + secrets.token_urlsafe(32),
        "AGENT_FEEDBACK_SEALING_KEYS": DEVELOPMENT_PREFIX + secrets.token_urlsafe(32),
        "AGENT_FEEDBACK_LOG_LEVEL": "WARNING",
        # The bin/dev of this checkout may be running, or have run.
        "AGENT_FEEDBACK_DATA_DIR": NO_DATA_DIR,
        # With a hot connection for each of fifty threads, still below the hundred that PostgreSQL allows by default.
        "AGENT_FEEDBACK_POOL_SIZE": "30",
    }


@pytest.fixture(scope="session")
def settings(servers: Servers) -> Settings:
    return Settings.from_env(environment(servers, servers.database(f"test_{secrets.token_hex(4)}")))


@pytest.fixture(scope="session")
def quick_passwords() -> Iterator[None]:
    """Hash passwords at the least cost: every test founds a company, whose owner has one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.accounts.passwords._hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield


@pytest.fixture(scope="session")
def migrated_app(settings: Settings, quick_passwords: None) -> Iterator[Flask]:
    # Dozens of threads on a machine of two cores must not look like a database that is unavailable.
    app = create_app(settings, timeouts=Timeouts(statement_s=60, connect_s=60, prepared_s=60))
    with app.app_context():
        migrations.upgrade()
    with recording() as recorder:
        yield app
    app.extensions["database"].dispose()
    # Of all tests of this process: it fails the run as an error of the last one.
    require_tenants(settings.database_url, recorder.statements.values())


@pytest.fixture
def app(migrated_app: Flask) -> Iterator[Flask]:
    """The app with an empty database, and its context pushed."""
    empty_database(migrated_app)
    with migrated_app.app_context():
        yield migrated_app


def empty_database(app: Flask) -> None:
    """Delete every row, and what the app remembers of keys."""
    app.extensions["key_cache"].clear()
    with app.extensions["database"].sessions.begin() as connection:
        filled = set(connection.scalars(FILLED))
        # For a few rows this is ten times as fast as TRUNCATE; what refers to others goes first.
        deletes = [f"DELETE FROM {table}" for table in reversed(METADATA.sorted_tables) if table.name in filled]
        if deletes:
            connection.execute(text("; ".join(deletes)))


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def company(app: Flask) -> Company:
    """A company with one product, one environment and its keys."""
    with transaction():
        return create_company()


@pytest.fixture
def context_api(client: FlaskClient, company: Company) -> ContextApi:
    return ContextApi(client, company)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a parameter that is a long text by its argument; pytest names every other."""
    return argname if isinstance(val, str | bytes) and len(val) > MAX_ID_CHARACTERS else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the tests: alone, the quick ones first, for they explain other failures; in parallel, the slow ones first.

    What shares the processes of a journey runs in one worker of pytest-xdist, as does each other file, whose tests may
    share a server or a browser. Runs before the hook of pytest-xdist, which reads the groups.
    """
    is_parallel = hasattr(config, "workerinput")
    items.sort(key=lambda item: _is_slow(item) is not is_parallel)
    for item in items:
        group = "stack" if _uses_stack(item) else item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(group))
    if is_parallel:
        items.sort(key=lambda item: not _uses_stack(item))


def _is_slow(item: pytest.Item) -> bool:
    return any(f"/{folder}/" in str(item.path) for folder in ("journeys", "browser", "contract"))


def _uses_stack(item: pytest.Item) -> bool:
    return "stack" in getattr(item, "fixturenames", ())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if os.environ.get("AGENT_FEEDBACK_NO_SKIPS") and terminalreporter.stats.get("skipped"):
        terminalreporter.write_line("a test that should have run was skipped", red=True)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("AGENT_FEEDBACK_NO_SKIPS") and reporter and reporter.stats.get("skipped") and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
