"""Open, find and revoke login sessions, which are rows of the database, so that a change holds in every process.

flask-login is not used: it keeps a user id in a signed cookie, which cannot be revoked.
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
from app.accounts.rules import LAST_SEEN_PRECISION, session_expiry
from app.accounts.service import canonical_email, record_audit_entry
from app.accounts.throttle import clear_attempt, count_attempt
from app.core import clock
from app.core.database import PreparedStatement, after_commit, session
from app.core.errors import Unauthorized

TOKEN_BYTES = 32


class LoginRow(NamedTuple):
    """A stored session with its user, role and workspace."""

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
    """The e-mail address or the password is wrong; deliberately the same error for either."""

    code = "wrong_credentials"
    sentence = "No user has this e-mail address and this password."


@dataclass(frozen=True, slots=True)
class Login:
    """The signed-in user, the workspace, and the role in it."""

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
class NewSession:
    """A session that was just opened, with the only copy of its token."""

    token: str = field(repr=False)
    login: Login


def sign_in(email: str, password: str, address: str, previous_token: str | None = None) -> NewSession:
    """Open a session, or raise `WrongCredentials` or `TooManyAttempts`.

    The token is always new, and the session of `previous_token` ends, which prevents session fixation.
    """
    email = canonical_email(email)
    count_attempt(email, address)
    user = session().scalar(select(User).where(User.email == email))
    is_correct = passwords.is_correct(user.password_hash if user else None, password)
    membership = _first_membership(user) if user and is_correct else None
    if user is None or membership is None:
        raise WrongCredentials
    after_commit(partial(clear_attempt, email, address))
    if previous_token:
        revoke_session(previous_token)
    return _create_session(user, *membership)


def find_login(token: str) -> Login | None:
    """Return the login of a valid session token, and record its use to the minute."""
    now = clock.now()
    row = FIND_LOGIN.first(digest=_digest(token), now=now)
    if row is None:
        return None
    if now - row.last_seen_at >= LAST_SEEN_PRECISION:
        UPDATE_LAST_SEEN.first(
            session_id=row.session_id,
            now=now,
            expires_at=session_expiry(row.created_at, now),
            last_seen_before=now - LAST_SEEN_PRECISION,
        )
    return Login(row.session_id, row.user_id, row.email, row.role, row.workspace_id, row.workspace_name)


def revoke_session(token: str) -> None:
    """End the session of a token, if there is one."""
    statement = delete(LoginSession).where(LoginSession.digest == _digest(token))
    for row in session().execute(statement.returning(LoginSession.id, LoginSession.user_id, LoginSession.workspace_id)):
        record_audit_entry(row.workspace_id, f"user {row.user_id}", "session.revoked", str(row.id))


def revoke_sessions_of(user_id: uuid.UUID) -> int:
    """End all sessions of a user, and return how many there were."""
    statement = delete(LoginSession).where(LoginSession.user_id == user_id).returning(LoginSession.id)
    return len(session().scalars(statement).all())


def _first_membership(user: User) -> tuple[Membership, Workspace] | None:
    """Return the membership and the workspace that a user joined first, or None.

    Lock the user until the session is committed. None also if the password was changed while it was being compared:
    the change has revoked all sessions, and would not see this one.
    """
    password_hash = select(User.password_hash).where(User.id == user.id).with_for_update(read=True)
    if session().scalar(password_hash) != user.password_hash:
        return None
    memberships = select(Membership, Workspace).join(Workspace).where(Membership.user_id == user.id)
    row = session().execute(memberships.order_by(Membership.created_at, Workspace.id).limit(1)).first()
    return (row[0], row[1]) if row else None


def _create_session(user: User, membership: Membership, workspace: Workspace) -> NewSession:
    now, token = clock.now(), secrets.token_urlsafe(TOKEN_BYTES)
    login_session = LoginSession(
        id=uuid.uuid4(),
        digest=_digest(token),
        user_id=user.id,
        workspace_id=workspace.id,
        created_at=now,
        last_seen_at=now,
        expires_at=session_expiry(now, now),
    )
    session().add(login_session)
    login = Login(login_session.id, user.id, user.email, membership.role, workspace.id, workspace.name)
    record_audit_entry(workspace.id, login.actor, "session.created", str(login_session.id))
    session().flush()
    return NewSession(token, login)


def _digest(token: str) -> bytes:
    """Return the stored digest of a token; 256 random bits need no key."""
    return hashlib.sha256(token.encode()).digest()
