"""A release with migrations beside the release before it, both used by clients while a long transaction is open."""

import shutil
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg2
import pytest
import requests

from app import create_app
from app.cli import migrations
from app.core.database import transaction
from app.health.service import newest_migration
from config.settings import Settings
from tests.conftest import ROOT, Servers
from tests.factories import create_company
from tests.journeys.crowd import Crowd
from tests.journeys.stack import BIN, Stack, wait_until
from tests.journeys.web import running_web

COPIED = ("app", "migrations", "wsgi.py")
LINKED = ("config", "workers", "sdk", "bench", "tests", "Procfile", "setup.cfg")

MIGRATIONS = {
    1: """
    op.execute("ALTER TABLE reviews ADD COLUMN journey integer NOT NULL DEFAULT 0")
    op.execute("CREATE TABLE journeys (id uuid CONSTRAINT pk_journeys PRIMARY KEY)")
""",
    2: """
    create_index("ix_reviews_journey", "reviews (environment_id, journey)")
""",
}


def next_release(folder: Path) -> Path:
    """Copy this release and add migrations to it; return its folder."""
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    newest = newest_migration()
    for number, body in MIGRATIONS.items():
        revision, earlier = f"{newest + number:04d}", f"{newest + number - 1:04d}"
        head = '"""Go on."""\n\nfrom alembic import op\nfrom migrations.online import create_index\n\n'
        head += f'revision = "{revision}"\ndown_revision = "{earlier}"\n\n\ndef upgrade():'
        (folder / "migrations" / "versions" / f"{revision}_journey.py").write_text(head + body)
    return folder


@pytest.fixture
def copy(stack: Stack) -> Stack:
    """The stack with a database of its own, which has the migrations of this release."""
    servers = Servers(stack.postgres.url(), stack.valkey.url, has_roles=True)
    url = servers.database("live_migration")
    urls = {"DATABASE_URL": url, "AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL": servers.migrations_url(url)}
    environ = stack.environ | urls
    app = create_app(Settings.from_env(environ))
    with app.app_context():
        migrations.upgrade()
        with transaction():
            company = create_company()
    app.extensions["database"].dispose()
    return replace(stack, environ=environ, company=company, app=app)


def readiness(url: str) -> tuple[int, bool]:
    response = requests.get(f"{url}/readyz", timeout=10)
    return response.status_code, response.json()["migrations"]


def test_a_migration_waits_for_a_long_transaction_and_no_request_waits_for_it(copy: Stack, tmp_path: Path) -> None:
    release = next_release(tmp_path)
    log = tmp_path / "upgrade.log"
    with (
        running_web(copy) as old,
        running_web(copy, folder=release) as new,
        closing(psycopg2.connect(copy.database_url)) as long_transaction,
        log.open("w") as output,
        Crowd(old.url, copy.company, size=16).running() as old_clients,
        Crowd(new.url, copy.company, size=16).running() as new_clients,
    ):
        long_transaction.cursor().execute("SELECT count(*) FROM reviews")
        command = [BIN / "flask", "db", "upgrade"]
        with subprocess.Popen(command, cwd=release, env=copy.environ, stderr=output) as runner:
            wait_until(lambda: "another transaction holds the lock of this migration" in log.read_text(), 120)
            assert readiness(old.url) == (200, True)
            assert readiness(new.url) == (503, False)
            long_transaction.commit()
            assert runner.wait(120) == 0
        assert readiness(old.url) == readiness(new.url) == (200, True)
    assert old_clients.failures() == new_clients.failures() == []
    reviews = old_clients.reviews | new_clients.reviews
    assert copy.value("SELECT count(*) FROM reviews WHERE journey = 0") == len(reviews) > 30
    assert copy.value("SELECT bool_and(indisvalid) FROM pg_index WHERE indrelid = 'reviews'::regclass")
