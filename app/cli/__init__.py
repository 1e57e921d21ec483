"""The commands of `flask …` for operators of the service."""

from flask import Flask

from app.cli import consent, customers, environments, interactions, keys, products, sdk, users, workspaces


def install(app: Flask) -> None:
    """Add the command groups to the app."""
    for module in (
        workspaces,
        users,
        products,
        environments,
        keys,
        interactions,
        consent,
        customers,
        sdk,
    ):
        app.cli.add_command(module.group)
