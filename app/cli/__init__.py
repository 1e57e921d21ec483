"""The commands of `flask …` for operators of the service."""

from collections.abc import Sequence
from pathlib import Path

from flask import Flask

from app.cli.groups import LazyCommand, LazyGroup

GROUPS = (
    LazyGroup("workspace", "app.cli.workspaces:group", help="Workspaces, one for each company."),
    LazyGroup("user", "app.cli.users:group", help="Users of the dashboard."),
    LazyGroup("product", "app.cli.products:group", help="Products of a workspace."),
    LazyGroup(
        "environment",
        "app.cli.environments:group",
        help="Environments of a product, such as production and staging.",
    ),
    LazyGroup("key", "app.cli.keys:group", help="Keys of an environment."),
    LazyGroup("interaction", "app.cli.interactions:group", help="Interactions of an environment."),
    LazyGroup("review", "app.cli.feedback:review", help="Reviews that agents sent."),
    LazyGroup("report", "app.cli.feedback:report", help="Reports that agents sent."),
    LazyGroup("consent", "app.cli.consent:group", help="Consent decisions of customers."),
    LazyGroup(
        "customer",
        "app.cli.customers:group",
        help="Everything that is stored of one customer, who is named by reference.",
    ),
    LazyGroup("webhook", "app.cli.webhooks:group", help="Webhooks: endpoints of companies, and their deliveries."),
    LazyCommand("export", "app.cli.export:export", help="Write what an environment has into files."),
    LazyGroup("ledger", "app.cli.ledger:group", help="What became of events, and what was lost."),
    LazyGroup("jobs", "app.cli.jobs:group", help="The background jobs."),
    LazyGroup("secrets", "app.cli.secrets:group", help="The secrets of the service."),
    LazyGroup("db", "app.cli.migrations:group", help="Migrations of the database."),
    LazyGroup("demo", "app.cli.demo:group", help="Sample data, to look at and to try things on."),
    LazyGroup("sdk", "app.cli.sdk:group", help="Build SDK downloads and JSON Schemas."),
)

_GROUPS_WITHOUT_SETTINGS = {"sdk"}
_GROUP_NAMES = {group.name for group in GROUPS}


def install(app: Flask) -> None:
    """Add the command groups to the app."""
    for group in GROUPS:
        app.cli.add_command(group)


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Tell whether these arguments of a process make the flask command print help, which needs no settings."""
    return _is_flask(arguments) and (not arguments[1:] or "--help" in arguments)


def needs_no_settings(arguments: Sequence[str]) -> bool:
    """Tell whether these arguments of a process print help, or run a command that reads nothing but the checkout."""
    group_name = next((argument for argument in arguments[1:] if argument in _GROUP_NAMES), None)
    return asks_for_help(arguments) or (_is_flask(arguments) and group_name in _GROUPS_WITHOUT_SETTINGS)


def runs_command(arguments: Sequence[str]) -> bool:
    """Tell whether these arguments of a process run a command of the service, which serves no HTTP."""
    return _is_flask(arguments) and not _GROUP_NAMES.isdisjoint(arguments[1:])


def app_without_settings() -> Flask:
    """Return an app that has the commands, and nothing that those with settings would need to run."""
    app = Flask(__name__)
    install(app)
    return app


def _is_flask(arguments: Sequence[str]) -> bool:
    program = arguments[0]
    return program.endswith("/flask/__main__.py") or Path(program).stem == "flask"
