"""`flask workspace`: create and list workspaces."""

import click

from app.accounts import service
from app.cli.output import Row, command

group = click.Group("workspace")


@command(group, "create")
@click.option("--email", required=True, help="The owner's e-mail address, for signing in.")
@click.option("--name", required=True)
def create(email: str, name: str) -> Row:
    """Create a workspace and its owner. The password is printed once."""
    workspace = service.create_workspace(email, name)
    return {
        "workspaceId": workspace.id,
        "name": workspace.name,
        "email": workspace.email,
        "password": workspace.password,
    }


@command(group, "list")
def list_workspaces() -> list[Row]:
    """List workspaces, oldest first."""
    return [
        {"workspaceId": workspace.id, "name": workspace.name, "createdAt": workspace.created_at}
        for workspace in service.list_workspaces()
    ]
