"""The command line: `flask …` for whoever runs the service."""

from collections.abc import Sequence
from pathlib import Path

from flask import Flask

from app.cli import consent, customers, feedback, interactions, jobs, migrations, products, sdk, users


def install(app: Flask) -> None:
    """Add our commands to the app's own."""
    for group in (
        products.workspace,
        users.group,
        products.product,
        products.environment,
        products.key,
        interactions.group,
        feedback.review,
        feedback.report,
        consent.group,
        customers.group,
        jobs.group,
        migrations.group,
        sdk.group,
    ):
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
