"""Create and list workspaces, add users, and write the audit log."""

import uuid
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from app.accounts import passwords
from app.accounts.models import AuditEntry, Membership, User, Workspace
from app.accounts.rules import MAX_NAME_LENGTH, OWNER, is_email
from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, NotFound, Unprocessable
from app.core.wire.text import normalize

COMMAND_LINE_ACTOR = "command line"

MAX_LIST_LENGTH = 1000


class EmailTaken(Conflict):
    """Another user has this e-mail address."""

    code = "email_taken"
    sentence = "There is a user with this e-mail address already."


@dataclass(frozen=True, slots=True)
class NewUser:
    """A user who was just created, with the only copy of the password."""

    id: uuid.UUID
    email: str
    role: str
    password: str


@dataclass(frozen=True, slots=True)
class NewWorkspace:
    """A workspace that was just created and its owner, with the only copy of the password."""

    id: uuid.UUID
    name: str
    email: str
    password: str


def create_workspace(email: str, name: str, actor: str = COMMAND_LINE_ACTOR) -> NewWorkspace:
    """Create a workspace and its owner with a random password."""
    workspace = _add_workspace(name, actor)
    owner = add_user(workspace.id, email, OWNER)
    session().flush()
    return NewWorkspace(workspace.id, workspace.name, owner.email, owner.password)


def create_further_workspace(email: str, name: str, actor: str = COMMAND_LINE_ACTOR) -> Workspace:
    """Create a workspace whose owner is a user already; the user's sign-in goes on as before."""
    user_id = session().scalar(select(User.id).where(User.email == canonical_email(email)))
    if user_id is None:
        raise NotFound("There is no user with this e-mail address.")
    workspace = _add_workspace(name, actor)
    session().add(Membership(workspace_id=workspace.id, user_id=user_id, role=OWNER, created_at=clock.now()))
    session().flush()
    return workspace


def _add_workspace(name: str, actor: str) -> Workspace:
    name = normalize(name)
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise Unprocessable(f"A name has 1 to {MAX_NAME_LENGTH} characters.")
    workspace = Workspace(id=uuid.uuid4(), name=name, created_at=clock.now())
    session().add(workspace)
    session().flush()
    record_audit_entry(workspace.id, actor, "workspace.created", str(workspace.id))
    return workspace


def add_user(workspace_id: uuid.UUID, email: str, role: str, password: str | None = None) -> NewUser:
    """Create a user and the membership in a workspace; the caller writes the audit entry.

    Without a password, which the caller has checked, a random one is made.
    """
    email = canonical_email(email)
    if not is_email(email):
        raise Unprocessable("This is not an e-mail address.")
    if session().scalar(select(User.id).where(User.email == email)):
        raise EmailTaken
    now, password = clock.now(), password or passwords.generate()
    user = User(id=uuid.uuid4(), email=email, password_hash=passwords.compute_hash(password), created_at=now)
    session().add(user)
    session().flush()
    session().add(Membership(workspace_id=workspace_id, user_id=user.id, role=role, created_at=now))
    return NewUser(user.id, email, role, password)


def canonical_email(text: str) -> str:
    """Return an e-mail address as it is stored and looked up."""
    return text.strip().lower()


def lock_workspace(workspace_id: uuid.UUID) -> Workspace:
    """Return a workspace, locked against changes of it until the transaction ends, or raise `NotFound`."""
    locked = select(Workspace).where(Workspace.id == workspace_id).with_for_update(key_share=True)
    workspace = session().scalar(locked)
    if workspace is None:
        raise NotFound("There is no workspace with this id.")
    return workspace


def list_workspaces() -> list[Workspace]:
    """Return the workspaces, oldest first."""
    return list(
        session().scalars(select(Workspace).order_by(Workspace.created_at, Workspace.id).limit(MAX_LIST_LENGTH))
    )


def record_user_entry(user_id: uuid.UUID, actor: str, action: str, **details: Any) -> None:
    """Add an entry about a user to the audit log of each workspace that the user belongs to."""
    workspace_ids = select(Membership.workspace_id).where(Membership.user_id == user_id).limit(MAX_LIST_LENGTH)
    for workspace_id in session().scalars(workspace_ids):
        record_audit_entry(workspace_id, actor, action, str(user_id), **details)


def record_audit_entry(workspace_id: uuid.UUID, actor: str, action: str, subject: str, **details: Any) -> None:
    """Add an entry to the workspace's audit log."""
    session().add(
        AuditEntry(
            workspace_id=workspace_id, at=clock.now(), actor=actor, action=action, subject=subject, details=details
        )
    )
