"""The command line: `flask …` for whoever runs the service."""

from flask import Flask

from app.cli import consent, customers, interactions, jobs, products, sdk, users


def install(app: Flask) -> None:
    """Add our commands to the app's own."""
    for group in (
        products.workspace,
        users.group,
        products.product,
        products.environment,
        products.key,
        interactions.group,
        consent.group,
        customers.group,
        jobs.group,
        sdk.group,
    ):
        app.cli.add_command(group)
