"""`flask user`: create, list, change and remove users."""

import uuid

import click

from app.accounts import identities, members, second_factor, users
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


@command(group, "set")
@click.argument("email")
@click.option("--workspace", "workspace_id", type=click.UUID, help="For --role, if the user belongs to several.")
@click.option("--role", type=click.Choice(ROLES), help="The new role.")
@click.option("--no-second-factor", is_flag=True, help="Switch off the second factor of a user who has lost it.")
@click.option("--no-identity", is_flag=True, help="Forget who the user is at the OpenID provider.")
def set_user(
    email: str, workspace_id: uuid.UUID | None, role: str | None, *, no_second_factor: bool, no_identity: bool
) -> list[Row]:
    """Change a user's role, or how the user signs in. The last owner of a workspace keeps the role."""
    if not (role or no_second_factor or no_identity):
        raise click.UsageError("There is nothing to change: name --role, --no-second-factor or --no-identity.")
    if role:
        members.set_role(email, role, workspace_id)
    if no_second_factor:
        second_factor.reset(email)
    if no_identity:
        identities.unlink(email)
    return [_member_row(member) for member in users.list_members(email=email)]


@command(group, "remove")
@click.argument("email")
@click.option("--workspace", "workspace_id", type=click.UUID, help="Remove the user from this workspace only.")
def remove(email: str, workspace_id: uuid.UUID | None) -> Row:
    """Remove a user from a workspace or from all, and end the sessions there. The last owner cannot be removed.

    A user who belongs to no workspace any more is deleted.
    """
    return {"email": email, "isDeleted": members.remove_user(email, workspace_id)}


@command(group, "list")
@click.option("--workspace", "workspace_id", type=click.UUID)
def list_users(workspace_id: uuid.UUID | None) -> list[Row]:
    """List users with their role in each workspace."""
    return [_member_row(member) for member in users.list_members(workspace_id)]


def _member_row(member: users.Member) -> Row:
    return {
        "userId": member.user_id,
        "email": member.email,
        "role": member.role,
        "workspaceId": member.workspace_id,
        "joinedAt": member.joined_at,
    }
