"""Migrations by Alembic: `flask db`."""

import click
import flask_migrate
from flask import current_app, g
from flask_migrate.cli import db

from app.core.database import Base
from app.health.service import MIGRATIONS


class MigrationGroup(click.Group):
    """The commands of Flask-Migrate, for the current app."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        names: list[str] = db.list_commands(ctx)
        return names

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        _install()
        # What Flask-Migrate's own group sets from its options.
        g.directory, g.x_arg = None, ()
        command: click.Command | None = db.get_command(ctx, cmd_name)
        return command


group = MigrationGroup("db")


def upgrade() -> None:
    """Upgrade the database of the current app to the newest migration."""
    _install()
    flask_migrate.upgrade()


def _install() -> None:
    flask_migrate.Migrate(current_app, Base, directory=str(MIGRATIONS))
