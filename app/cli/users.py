"""`flask user`: create and list users, and change their passwords."""

import uuid

import click

from app.accounts import users
from app.accounts.rules import MEMBER, ROLES
from app.cli.output import Row, command

group = click.Group("user")

_workspace = click.option("--workspace", "workspace_id", type=click.UUID, required=True)


@command(group, "create")
@_workspace
@click.option("--email", required=True, help="The e-mail address for signing in.")
@click.option("--role", type=click.Choice(ROLES), default=MEMBER, show_default=True)
def create(workspace_id: uuid.UUID, email: str, role: str) -> Row:
    """Create a user in a workspace. The password is printed once."""
    user = users.create_user(workspace_id, email, role)
    return {
        "userId": user.id,
        "workspaceId": workspace_id,
        "email": user.email,
        "role": user.role,
        "password": user.password,
    }


@command(group, "password")
@click.argument("email")
def password(email: str) -> Row:
    """Give a user a new password, which is printed once, and end all their sessions."""
    return {"email": email, "password": users.change_password(email)}


@command(group, "list")
@click.option("--workspace", "workspace_id", type=click.UUID)
def list_users(workspace_id: uuid.UUID | None) -> list[Row]:
    """List users with their role in each workspace."""
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
