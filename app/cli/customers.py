"""`flask customer`: export or erase everything that is stored of one customer."""

import uuid
from typing import Any

import click

from app.cli.output import Row, command
from app.core.database import transaction
from app.core.errors import ApiError
from app.retention import customers

group = click.Group("customer")


def _reference_options(function: Any) -> Any:
    """Add the options that name a customer of a product."""
    for option in ("--anonymous-ref", "--user-ref", "--account-ref"):
        function = click.option(option, help="As the company sends it.")(function)
    return click.option("--product", "product_id", type=click.UUID, required=True)(function)


@group.command("export")
@_reference_options
def export(product_id: uuid.UUID, account_ref: str | None, user_ref: str | None, anonymous_ref: str | None) -> None:
    """Print every row that is stored of a customer, one JSON object a line."""
    try:
        with transaction():
            references = customers.digest(product_id, account_ref, user_ref, anonymous_ref)
            for line in customers.export_lines(product_id, customers.get_named(product_id, references)):
                click.echo(line, nl=False)
    except ApiError as error:
        raise click.ClickException(str(error)) from None


@command(group, "erase")
@_reference_options
@click.option(
    "--forget-refusals", is_flag=True, help="Also delete a recorded refusal; the customer may be asked again."
)
@click.confirmation_option(prompt="This deletes everything that is stored of this customer. Continue?")
def erase(
    product_id: uuid.UUID,
    account_ref: str | None,
    user_ref: str | None,
    anonymous_ref: str | None,
    forget_refusals: bool,
) -> Row:
    """Delete everything that is stored of a customer, except a recorded refusal."""
    references = customers.digest(product_id, account_ref, user_ref, anonymous_ref)
    return {"removedRows": customers.erase(product_id, references, forgets_refusals=forget_refusals)}
