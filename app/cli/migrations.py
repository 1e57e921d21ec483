"""Migrations by Alembic: `flask db`."""

import click
from flask import current_app, g

from app.core.database import Base
from app.health.service import MIGRATIONS


class MigrationGroup(click.Group):
    """The commands of Flask-Migrate, imported when one of them is used: that takes longer than most commands run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return _commands().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        return _commands().get_command(ctx, cmd_name)


def _set_migration_options() -> None:
    """Set what Flask-Migrate's own group sets from its options."""
    g.directory, g.x_arg = None, ()


group = MigrationGroup("db", callback=_set_migration_options, help="Migrations of the database.")


def upgrade() -> None:
    """Upgrade the database of the current app to the newest migration."""
    _commands()
    import flask_migrate  # noqa: PLC0415  # see `MigrationGroup`

    flask_migrate.upgrade()


def _commands() -> click.Group:
    """Install Flask-Migrate in the current app, and return its commands."""
    from flask_migrate import Migrate  # noqa: PLC0415  # see `MigrationGroup`
    from flask_migrate.cli import db  # noqa: PLC0415  # see `MigrationGroup`

    Migrate(current_app, Base, directory=str(MIGRATIONS))
    commands: click.Group = db
    return commands
