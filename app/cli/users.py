"""The people who sign in."""

import uuid

import click

from app.accounts import users
from app.accounts.rules import MEMBER, ROLES
from app.cli.output import Row, command

group = click.Group("user", help="People who sign in to the dashboard.")

_workspace = click.option("--workspace", "workspace_id", type=click.UUID, required=True)


@command(group, "create")
@_workspace
@click.option("--email", required=True, help="What they sign in with.")
@click.option("--role", type=click.Choice(ROLES), default=MEMBER, show_default=True)
def create(workspace_id: uuid.UUID, email: str, role: str) -> Row:
    """Add somebody to a workspace; prints the password once."""
    user = users.create_user(workspace_id, email, role)
    shown = {"userId": user.id, "workspaceId": workspace_id, "email": user.email, "role": user.role}
    return {**shown, "password": user.password}


@command(group, "password")
@click.argument("email")
def password(email: str) -> Row:
    """Give somebody a new password, which is printed once, and sign them out everywhere."""
    return {"email": email, "password": users.change_password(email)}


@command(group, "list")
@click.option("--workspace", "workspace_id", type=click.UUID)
def list_users(workspace_id: uuid.UUID | None) -> list[Row]:
    """List people, with their role in each workspace."""
    return [
        {
            "userId": member.user_id,
            "email": member.email,
            "role": member.role,
            "workspaceId": member.workspace_id,
            "joinedAt": member.joined_at,
        }
        for member in users.list_members(workspace_id)
    ]
