"""The commands of `flask …` for operators of the service."""

from collections.abc import Sequence
from pathlib import Path

from flask import Flask

from app.cli import (
    consent,
    customers,
    environments,
    feedback,
    interactions,
    jobs,
    keys,
    migrations,
    products,
    sdk,
    users,
    workspaces,
)

GROUPS = (
    workspaces.group,
    users.group,
    products.group,
    environments.group,
    keys.group,
    interactions.group,
    feedback.review,
    feedback.report,
    consent.group,
    customers.group,
    jobs.group,
    migrations.group,
    sdk.group,
)


def install(app: Flask) -> None:
    """Add the command groups to the app."""
    for group in GROUPS:
        app.cli.add_command(group)


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Tell whether these arguments of a process make the flask command print help, which needs no settings."""
    program, *options = arguments
    is_flask = program.endswith("/flask/__main__.py") or Path(program).stem == "flask"
    return is_flask and (not options or "--help" in options)


def help_app() -> Flask:
    """Return an app that has the commands, and nothing that they would need to run."""
    app = Flask(__name__)
    install(app)
    return app
