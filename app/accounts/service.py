"""Founding workspaces and keeping the audit log."""

import secrets
import uuid
from dataclasses import dataclass
from typing import Any

from argon2 import PasswordHasher
from sqlalchemy import select

from app.accounts.models import AuditEntry, Membership, User, Workspace
from app.accounts.rules import LONGEST_NAME, is_email
from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, Unprocessable
from app.core.fields import normalize

COMMAND_LINE = "command line"

_hasher = PasswordHasher()


class EmailTaken(Conflict):
    """Somebody signs in with this address already."""

    code = "email_taken"
    sentence = "There is a user with this e-mail address already."


@dataclass(frozen=True, slots=True)
class FoundedWorkspace:
    """A new workspace and its first owner; the password is shown only here."""

    id: uuid.UUID
    name: str
    email: str
    password: str


def found_workspace(email: str, name: str, actor: str = COMMAND_LINE) -> FoundedWorkspace:
    """Create a workspace with its owner, who gets a random password."""
    email, name = email.strip().lower(), normalize(name)
    if not is_email(email):
        raise Unprocessable("This is not an e-mail address.")
    if not 1 <= len(name) <= LONGEST_NAME:
        raise Unprocessable(f"A name has 1 to {LONGEST_NAME} characters.")
    if session().scalar(select(User.id).where(User.email == email)):
        raise EmailTaken
    now, password = clock.now(), secrets.token_urlsafe(12)
    workspace = Workspace(id=uuid.uuid4(), name=name, created_at=now)
    user = User(id=uuid.uuid4(), email=email, password_hash=_hasher.hash(password), created_at=now)
    session().add_all([workspace, user])
    session().flush()
    session().add(Membership(workspace_id=workspace.id, user_id=user.id, role="owner", created_at=now))
    record_deed(workspace.id, actor, "workspace.created", str(workspace.id))
    session().flush()
    return FoundedWorkspace(workspace.id, name, email, password)


def record_deed(workspace_id: uuid.UUID, actor: str, deed: str, subject: str, **details: Any) -> None:
    """Write a change into the workspace's audit log."""
    session().add(
        AuditEntry(workspace_id=workspace_id, at=clock.now(), actor=actor, deed=deed, subject=subject, details=details)
    )
