"""The people of a workspace, and their passwords."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.accounts import passwords
from app.accounts.models import Membership, User, Workspace
from app.accounts.service import COMMAND_LINE, MAX_LISTED, NewUser, add_user, canonical_email, record_audit_entry
from app.accounts.sessions import revoke_sessions_of
from app.core.database import session
from app.core.errors import NotFound


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody as a member of a workspace."""

    user_id: uuid.UUID
    email: str
    role: str
    workspace_id: uuid.UUID
    joined_at: datetime


def create_user(workspace_id: uuid.UUID, email: str, role: str, actor: str = COMMAND_LINE) -> NewUser:
    """Add somebody to a workspace, with a random password."""
    if session().get(Workspace, workspace_id) is None:
        raise NotFound("There is no workspace with this id.")
    user = add_user(workspace_id, email, role)
    record_audit_entry(workspace_id, actor, "user.created", str(user.id), role=role)
    session().flush()
    return user


def change_password(email: str, actor: str = COMMAND_LINE) -> str:
    """Give a user a new random password, and end all sessions that were opened with the old one."""
    password = passwords.make()
    kept = passwords.keep(password)
    user = session().scalar(select(User).where(User.email == canonical_email(email)).with_for_update())
    if user is None:
        raise NotFound("There is no user with this e-mail address.")
    user.password_hash = kept
    session().flush()
    revoked = revoke_sessions_of(user.id)
    for workspace_id in session().scalars(select(Membership.workspace_id).where(Membership.user_id == user.id)):
        record_audit_entry(workspace_id, actor, "password.changed", str(user.id), sessions_revoked=revoked)
    session().flush()
    return password


def list_members(workspace_id: uuid.UUID | None = None) -> list[Member]:
    """Return the members of a workspace, or of all, in the order in which they joined."""
    statement = (
        select(User.id, User.email, Membership.role, Membership.workspace_id, Membership.created_at)
        .join(Membership, Membership.user_id == User.id)
        .order_by(Membership.created_at, User.id)
        .limit(MAX_LISTED)
    )
    if workspace_id is not None:
        statement = statement.where(Membership.workspace_id == workspace_id)
    return [Member(*row) for row in session().execute(statement)]
