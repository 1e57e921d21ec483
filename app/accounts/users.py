"""Create and list the users of a workspace, and change their passwords."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.accounts import passwords
from app.accounts.models import Membership, User, Workspace
from app.accounts.service import (
    COMMAND_LINE_ACTOR,
    MAX_LIST_LENGTH,
    NewUser,
    add_user,
    canonical_email,
    record_audit_entry,
    record_user_entry,
)
from app.accounts.sessions import revoke_sessions_of
from app.core.database import session
from app.core.errors import NotFound


@dataclass(frozen=True, slots=True)
class Member:
    """A user as a member of a workspace."""

    user_id: uuid.UUID
    email: str
    role: str
    workspace_id: uuid.UUID
    joined_at: datetime


def create_user(workspace_id: uuid.UUID, email: str, role: str, actor: str = COMMAND_LINE_ACTOR) -> NewUser:
    """Create a user with a random password in a workspace."""
    if session().get(Workspace, workspace_id) is None:
        raise NotFound("There is no workspace with this id.")
    user = add_user(workspace_id, email, role)
    record_audit_entry(workspace_id, actor, "user.created", str(user.id), role=role)
    session().flush()
    return user


def change_password(email: str, actor: str = COMMAND_LINE_ACTOR) -> str:
    """Give a user a new random password, end all their sessions, and return the password."""
    password = passwords.generate()
    password_hash = passwords.compute_hash(password)
    user = session().scalar(select(User).where(User.email == canonical_email(email)).with_for_update())
    if user is None:
        raise NotFound("There is no user with this e-mail address.")
    user.password_hash = password_hash
    session().flush()
    session_count = revoke_sessions_of(user.id)
    record_user_entry(user.id, actor, "password.changed", sessions_revoked=session_count)
    session().flush()
    return password


def list_members(workspace_id: uuid.UUID | None = None, email: str | None = None) -> list[Member]:
    """Return the members of one workspace or of all, in the order in which they joined; or one user's memberships."""
    statement = (
        select(User.id, User.email, Membership.role, Membership.workspace_id, Membership.created_at)
        .join(Membership, Membership.user_id == User.id)
        .order_by(Membership.created_at, User.id)
        .limit(MAX_LIST_LENGTH)
    )
    if workspace_id is not None:
        statement = statement.where(Membership.workspace_id == workspace_id)
    if email is not None:
        statement = statement.where(User.email == canonical_email(email))
    return [Member(*row) for row in session().execute(statement)]


def get_member(workspace_id: uuid.UUID, user_id: uuid.UUID) -> Member:
    """Return a member of a workspace, or raise `NotFound`."""
    statement = (
        select(User.id, User.email, Membership.role, Membership.workspace_id, Membership.created_at)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.workspace_id == workspace_id, User.id == user_id)
    )
    row = session().execute(statement).first()
    if row is None:
        raise NotFound("There is no user with this id in this workspace.")
    return Member(*row)


def find_emails(workspace_id: uuid.UUID, user_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, str]:
    """Return the e-mail addresses of those of these users who are members of the workspace."""
    of_members = select(User.id, User.email).join(Membership, Membership.user_id == User.id)
    of_workspace = of_members.where(Membership.workspace_id == workspace_id, User.id.in_(user_ids))
    rows = session().execute(of_workspace.limit(MAX_LIST_LENGTH))
    return {row.id: row.email for row in rows}
