"""`flask interaction`: show what is stored of an interaction."""

import uuid

import click

from app.cli.output import Row, command
from app.dashboard.queries import get_interaction_record

group = click.Group("interaction")


@command(group, "show")
@click.argument("interaction_id", type=click.UUID)
@click.option("--environment", "environment_id", type=click.UUID, required=True)
def show(interaction_id: uuid.UUID, environment_id: uuid.UUID) -> Row:
    """Show an interaction with its telemetry, review and report."""
    return get_interaction_record(environment_id, interaction_id)
