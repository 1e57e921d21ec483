"""`flask demo`: sample data."""

import uuid

import click

from app.cli.output import Row, command
from app.demo import service
from app.demo.service import SeededEnvironment

group = click.Group("demo")


@command(group, "seed")
@click.option("--workspace", "workspace_id", type=click.UUID, required=True)
def seed(workspace_id: uuid.UUID) -> Row:
    """Fill a workspace without products with a fortnight of sample data, which is the same for the same day.

    Where the sample data is there already, nothing changes. `flask product delete` removes it, product by product.
    A service that exports reviews to a collector exports these too.
    """
    seeding = service.seed(workspace_id)
    names = sorted({name for environment in seeding.environments for name in environment.counts})
    return {
        "workspaceId": seeding.workspace_id,
        "alreadySeeded": not seeding.is_new,
        "products": [
            {
                "productId": product_id,
                "name": product_name,
                "environments": [
                    _environment_row(environment)
                    for environment in seeding.environments
                    if environment.product_id == product_id
                ],
            }
            for product_id, product_name in dict.fromkeys(
                (environment.product_id, environment.product_name) for environment in seeding.environments
            )
        ],
        "counts": {name: sum(environment.counts[name] for environment in seeding.environments) for name in names},
    }


def _environment_row(environment: SeededEnvironment) -> Row:
    return {"environmentId": environment.id, "name": environment.name, "counts": environment.counts}
