"""`flask consent`: print receipts of consent decisions."""

import uuid

import click

from app.cli.output import Row, command
from app.consent.receipt import build_receipt
from app.core.settings import current_settings

group = click.Group("consent")


@command(group, "receipt")
@click.argument("interaction_id", type=click.UUID)
@click.option("--environment", "environment_id", type=click.UUID, required=True)
def receipt(interaction_id: uuid.UUID, environment_id: uuid.UUID) -> Row:
    """Print the receipt of a consent decision, in the structure of ISO/IEC TS 27560."""
    return build_receipt(environment_id, interaction_id, current_settings().service_name)
