"""What owners and admins change about the members of their workspace; only owners change who is an owner."""

import uuid

from app.accounts import members, users
from app.accounts.rules import may_grant
from app.accounts.sessions import Login
from app.accounts.users import Member
from app.core.errors import Forbidden


class OwnersOnly(Forbidden):
    """An admin would give the role of an owner, or take it away."""

    code = "owners_only"
    sentence = "Only an owner of the workspace can do this with an owner."


def change_role(login: Login, user_id: uuid.UUID, role: str) -> Member:
    """Change the role of a member; raise `NotFound`, `OwnersOnly` or `LastOwner`."""
    member = _get_member(login, user_id)
    if not may_grant(login.role, role):
        raise OwnersOnly
    members.set_role(member.email, role, login.workspace_id, login.actor)
    return member


def remove_member(login: Login, user_id: uuid.UUID) -> Member:
    """End a membership with its sessions; raise `NotFound`, `OwnersOnly` or `LastOwner`."""
    member = _get_member(login, user_id)
    members.remove_user(member.email, login.workspace_id, login.actor)
    return member


def _get_member(login: Login, user_id: uuid.UUID) -> Member:
    member = users.get_member(login.workspace_id, user_id)
    if not may_grant(login.role, member.role):
        raise OwnersOnly
    return member
