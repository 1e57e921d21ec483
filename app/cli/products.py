"""`flask product`: create, list and delete products."""

import uuid

import click

from app.cli.output import Row, command
from app.core.errors import ApiError
from app.products import service
from app.retention.erasure import erase_product

group = click.Group("product")


@command(group, "create")
@click.option("--workspace", "workspace_id", type=click.UUID, required=True)
@click.option("--name", required=True)
def create(workspace_id: uuid.UUID, name: str) -> Row:
    """Create a product in a workspace."""
    product = service.create_product(workspace_id, name)
    return {"productId": product.id, "workspaceId": workspace_id, "name": product.name}


@command(group, "list")
@click.option("--workspace", "workspace_id", type=click.UUID)
def list_products(workspace_id: uuid.UUID | None) -> list[Row]:
    """List products, oldest first."""
    return [
        {
            "productId": product.id,
            "workspaceId": product.workspace_id,
            "name": product.name,
            "createdAt": product.created_at,
        }
        for product in service.list_products(workspace_id)
    ]


@group.command("delete")
@click.argument("product_id", type=click.UUID)
@click.confirmation_option(prompt="This deletes the product and everything that belongs to it. Continue?")
def delete(product_id: uuid.UUID) -> None:
    """Delete a product with all its environments, keys, interactions, feedback and decisions."""
    # Not registered by `command`: an erasure commits in batches.
    try:
        row_count = erase_product(product_id)
    except ApiError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"removed, with {row_count} rows that belonged to it")
