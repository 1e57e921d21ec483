"""What is kept of one customer: to hand it out, and to remove it."""

import uuid
from typing import Any

import click
import orjson

from app.cli.output import Row, command
from app.core.database import transaction
from app.core.errors import ApiError
from app.retention import customers

group = click.Group("customer", help="What is kept of one customer, who is references by reference.")


def _references(run: Any) -> Any:
    """Take the product, and the references that name a customer in it."""
    for option in ("--anonymous-ref", "--user-ref", "--account-ref"):
        run = click.option(option, help="As the company sends it.")(run)
    return click.option("--product", "product_id", type=click.UUID, required=True)(run)


@group.command("export")
@_references
def export(product_id: uuid.UUID, account_ref: str | None, user_ref: str | None, anonymous_ref: str | None) -> None:
    """Print every row that is kept of a customer, one JSON object a line."""
    try:
        with transaction():
            references = customers.digest(product_id, account_ref, user_ref, anonymous_ref)
            for row in customers.export(product_id, references):
                click.echo(orjson.dumps(row, option=orjson.OPT_UTC_Z))
    except ApiError as error:
        raise click.ClickException(str(error)) from None


@command(group, "erase")
@_references
@click.option("--forget-refusals", is_flag=True, help="Also forget a recorded no; the customer may be asked again.")
@click.confirmation_option(prompt="What is kept of this customer will be gone. Go on?")
def erase(
    product_id: uuid.UUID,
    account_ref: str | None,
    user_ref: str | None,
    anonymous_ref: str | None,
    forget_refusals: bool,
) -> Row:
    """Remove what is kept of a customer; a recorded no stays unless told otherwise."""
    references = customers.digest(product_id, account_ref, user_ref, anonymous_ref)
    return {"removedRows": customers.erase(product_id, references, forgets_refusals=forget_refusals)}
