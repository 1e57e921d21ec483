"""`flask environment`: create and list environments, and change their settings."""

import uuid
from typing import Any

import click

from app.cli.output import Row, command
from app.products import service
from app.products.models import Environment
from app.products.rules import RETENTION_DAYS, Mode

group = click.Group("environment")

_DAYS = click.IntRange(RETENTION_DAYS.start, RETENTION_DAYS.stop - 1)


def _settings_options(function: Any) -> Any:
    """Add the options of an environment's settings."""
    for option in (
        click.option("--evidence-retention-days", type=_DAYS, help="How many days evidence is kept."),
        click.option("--retention-days", type=_DAYS, help="How many days interactions and reviews are kept."),
        click.option("--mode", type=click.Choice([str(mode) for mode in Mode]), help="How customers are asked."),
    ):
        function = option(function)
    return function


@command(group, "create")
@click.option("--product", "product_id", type=click.UUID, required=True)
@click.option("--name", required=True)
@_settings_options
def create(product_id: uuid.UUID, name: str, **settings: Any) -> Row:
    """Create an environment in a product."""
    return _change(service.create_environment(product_id, name).id, **settings)


@command(group, "list")
@click.option("--product", "product_id", type=click.UUID)
def list_environments(product_id: uuid.UUID | None) -> list[Row]:
    """List environments with their settings, oldest first."""
    return [_row(environment) for environment in service.list_environments(product_id)]


@command(group, "set")
@click.argument("environment_id", type=click.UUID)
@_settings_options
def set_environment(environment_id: uuid.UUID, **settings: Any) -> Row:
    """Change the settings of an environment."""
    return _change(environment_id, **settings)


def _change(
    environment_id: uuid.UUID, mode: str | None, retention_days: int | None, evidence_retention_days: int | None
) -> Row:
    environment = service.set_environment(
        environment_id,
        mode=Mode(mode) if mode else None,
        retention_days=retention_days,
        evidence_retention_days=evidence_retention_days,
    )
    return _row(environment)


def _row(environment: Environment) -> Row:
    return {
        "environmentId": environment.id,
        "productId": environment.product_id,
        "name": environment.name,
        "mode": environment.mode,
        "retentionDays": environment.retention_days,
        "evidenceRetentionDays": environment.evidence_retention_days,
    }
