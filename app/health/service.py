"""Is everything there that the service needs?"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from alembic.script import ScriptDirectory

from app.core.database import PreparedStatement
from app.core.errors import Unavailable
from app.core.jobs import job_notifier

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"

MIGRATION_VERSION = PreparedStatement("migration_version", "SELECT version_num::text FROM alembic_version")


@dataclass(frozen=True, slots=True)
class Readiness:
    """What is there."""

    database: bool
    migrations: bool
    broker: bool

    @property
    def status(self) -> str:
        """The whole in a word."""
        return "ready" if self.database and self.migrations and self.broker else "not_ready"


def check() -> Readiness:
    """Ask the database and the broker."""
    return Readiness(*_ask_database(), broker=job_notifier().is_broker_reachable())


@cache
def newest_migration() -> str | None:
    """Return the newest migration of this release."""
    return ScriptDirectory(str(MIGRATIONS)).get_current_head()


def _ask_database() -> tuple[bool, bool]:
    try:
        versions = MIGRATION_VERSION.all()
    except Unavailable:
        return False, False
    except Exception:  # a database without the table has had no migration
        return True, False
    return True, versions == [(newest_migration(),)]
