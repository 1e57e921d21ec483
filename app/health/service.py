"""Check the database, the broker and the background processes."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.core.database import PreparedStatement, transaction
from app.core.errors import Unavailable
from app.core.jobs import job_notifier
from app.health.job_runs import Processes, check_processes

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"

MIGRATION_VERSION = PreparedStatement("migration_version", "SELECT version_num::text FROM alembic_version")


@dataclass(frozen=True, slots=True)
class Readiness:
    """What the service needs, and whether it is there."""

    database: bool
    migrations: bool
    broker: bool
    processes: Processes | None
    """None while the database cannot tell."""

    @property
    def is_ready(self) -> bool:
        """Whether requests can be served and their jobs notified; a silent worker delays only what becomes visible."""
        return self.database and self.migrations and self.broker

    @property
    def error(self) -> str | None:
        """What keeps the service from being ready, in a sentence."""
        if not self.database:
            return "The database cannot be reached."
        if not self.migrations:
            return "The database lacks migrations of this release; run flask db upgrade."
        if not self.broker:
            return "The broker cannot be reached; everything is still accepted, and becomes visible when it is back."
        return None

    @property
    def warning(self) -> str | None:
        """Which background process is silent, in a sentence."""
        if self.processes is None:
            return None
        if not self.processes.worker.is_running:
            return "No worker has run a job lately; what is accepted becomes visible when one runs."
        if not self.processes.beat.is_running:
            return "Beat has scheduled no job lately; what a lost notification announced waits for its sweep."
        return None


def check() -> Readiness:
    """Ask the database and the broker."""
    has_database, has_migrations = _check_database()
    return Readiness(
        has_database,
        has_migrations,
        broker=job_notifier().is_broker_reachable(),
        processes=_processes() if has_migrations else None,
    )


@cache
def newest_migration() -> int:
    """Return the number of this release's newest migration."""
    # From the names of the files: Alembic takes a quarter of a second to import, and some megabytes in every process.
    return max(int(path.name.partition("_")[0]) for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def _check_database() -> tuple[bool, bool]:
    try:
        versions = MIGRATION_VERSION.all()
    except Unavailable:
        return False, False
    except Exception:  # a database without the table has had no migration
        return True, False
    # A newer release may have migrated the database already: its migrations let this release go on.
    return True, len(versions) == 1 and int(versions[0][0]) >= newest_migration()


def _processes() -> Processes | None:
    try:
        with transaction():
            return check_processes()
    except Unavailable:
        return None
