"""Login sessions: opened, found and revoked here, in the database, so that every process hears of it at once.

Written with what Flask brings: flask-login keeps a user id in a signed cookie, which nobody could revoke.
"""

import hashlib
import secrets
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import NamedTuple

from sqlalchemy import delete, select

from app.accounts import passwords
from app.accounts.models import LoginSession, Membership, User, Workspace
from app.accounts.rules import LAST_SEEN_PRECISION, session_ends_at
from app.accounts.service import canonical_email, record_audit_entry
from app.accounts.throttle import count_attempt, forgive_attempt
from app.core import clock
from app.core.database import PreparedStatement, after_commit, session
from app.core.errors import Unauthorized

TOKEN_BYTES = 32


class LoginRow(NamedTuple):
    """A session as it is stored, and whose it is."""

    created_at: datetime
    last_seen_at: datetime
    session_id: uuid.UUID
    user_id: uuid.UUID
    email: str
    role: str
    workspace_id: uuid.UUID
    workspace_name: str


FIND_LOGIN = PreparedStatement(
    "find_login",
    """
    SELECT s.created_at, s.last_seen_at, s.id AS session_id, u.id AS user_id, u.email, m.role, w.id AS workspace_id,
           w.name AS workspace_name
    FROM login_sessions s
    JOIN memberships m ON m.workspace_id = s.workspace_id AND m.user_id = s.user_id
    JOIN users u ON u.id = s.user_id
    JOIN workspaces w ON w.id = s.workspace_id
    WHERE s.digest = :digest::bytea AND s.expires_at > :now::timestamptz
    """,
    row=LoginRow,
)

UPDATE_LAST_SEEN = PreparedStatement(
    "update_last_seen",
    """
    UPDATE login_sessions SET last_seen_at = :now::timestamptz, expires_at = :expires_at::timestamptz
    WHERE id = :session_id::uuid AND last_seen_at <= :last_seen_before::timestamptz
    """,
)


class WrongCredentials(Unauthorized):
    """Nobody signs in with this; deliberately the same for every reason."""

    code = "wrong_credentials"
    sentence = "Nobody signs in here with this e-mail address and this password."


@dataclass(frozen=True, slots=True)
class Login:
    """Who is signed in, where, and what they may do there."""

    session_id: uuid.UUID
    user_id: uuid.UUID
    email: str
    role: str
    workspace_id: uuid.UUID
    workspace_name: str

    @property
    def actor(self) -> str:
        """The user's name in the audit log, which holds no e-mail address."""
        return f"user {self.user_id}"


@dataclass(frozen=True, slots=True)
class Opened:
    """A new session; its token is known only here."""

    token: str = field(repr=False)
    login: Login


def sign_in(email: str, password: str, address: str, presented: str | None = None) -> Opened:
    """Open a session, or raise `WrongCredentials` or `TooManyAttempts`.

    The token is always a fresh one, and the session that the browser presented ends: who had planted it gains nothing.
    """
    email = canonical_email(email)
    count_attempt(email, address)
    user = session().scalar(select(User).where(User.email == email))
    is_right = passwords.is_right(user.password_hash if user else None, password)
    joined = _first_membership(user) if user and is_right else None
    if user is None or joined is None:
        raise WrongCredentials
    after_commit(partial(forgive_attempt, email, address))
    if presented:
        revoke_session(presented)
    return _open(user, *joined)


def find_login(token: str) -> Login | None:
    """Return who presents this token, and note to the minute that they were here."""
    now = clock.now()
    row = FIND_LOGIN.first(digest=_digest(token), now=now)
    if row is None:
        return None
    if now - row.last_seen_at >= LAST_SEEN_PRECISION:
        UPDATE_LAST_SEEN.first(
            session_id=row.session_id,
            now=now,
            expires_at=session_ends_at(row.created_at, now),
            last_seen_before=now - LAST_SEEN_PRECISION,
        )
    return Login(row.session_id, row.user_id, row.email, row.role, row.workspace_id, row.workspace_name)


def revoke_session(token: str) -> None:
    """End the session of a token, if there is one."""
    ended = delete(LoginSession).where(LoginSession.digest == _digest(token))
    for row in session().execute(ended.returning(LoginSession.id, LoginSession.user_id, LoginSession.workspace_id)):
        record_audit_entry(row.workspace_id, f"user {row.user_id}", "session.revoked", str(row.id))


def revoke_sessions_of(user_id: uuid.UUID) -> int:
    """End all sessions of a user; returns how many there were."""
    ended = delete(LoginSession).where(LoginSession.user_id == user_id).returning(LoginSession.id)
    return len(session().scalars(ended).all())


def _first_membership(user: User) -> tuple[Membership, Workspace] | None:
    """Return the workspace that a user joined first: who has several signs in to that one.

    The user stays as they are until the session is open. One whose password was changed while it was being compared
    is none of ours any more: their sessions have been revoked, and this one would be left.
    """
    kept = select(User.password_hash).where(User.id == user.id).with_for_update(read=True)
    if session().scalar(kept) != user.password_hash:
        return None
    joined = select(Membership, Workspace).join(Workspace).where(Membership.user_id == user.id)
    found = session().execute(joined.order_by(Membership.created_at, Workspace.id).limit(1)).first()
    return (found[0], found[1]) if found else None


def _open(user: User, membership: Membership, workspace: Workspace) -> Opened:
    now, token = clock.now(), secrets.token_urlsafe(TOKEN_BYTES)
    opened = LoginSession(
        id=uuid.uuid4(),
        digest=_digest(token),
        user_id=user.id,
        workspace_id=workspace.id,
        created_at=now,
        last_seen_at=now,
        expires_at=session_ends_at(now, now),
    )
    session().add(opened)
    login = Login(opened.id, user.id, user.email, membership.role, workspace.id, workspace.name)
    record_audit_entry(workspace.id, login.actor, "session.created", str(opened.id))
    session().flush()
    return Opened(token, login)


def _digest(token: str) -> bytes:
    """Return what is stored of a token; it is random enough to need no key."""
    return hashlib.sha256(token.encode()).digest()
