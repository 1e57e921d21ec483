"""Open, find, list and revoke login sessions, which are rows of the database, so that a change holds in every process.

flask-login is not used: it keeps a user id in a signed cookie, which cannot be revoked.
"""

import hashlib
import secrets
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete, select, update

from app.accounts.models import LoginSession, Membership, User, Workspace
from app.accounts.rules import LAST_SEEN_PRECISION, Client, session_expiry
from app.accounts.service import MAX_LIST_LENGTH, record_audit_entry, record_user_entry
from app.core import clock
from app.core.database import PreparedStatement, session
from app.core.errors import NotFound

TOKEN_BYTES = 32

MAX_SESSIONS = 100
"""How many a list shows."""


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


def revoke_sessions_of(user_id: uuid.UUID, *, except_id: uuid.UUID | None = None) -> int:
    """End all sessions of a user, or all but one, and return how many there were."""
    statement = delete(LoginSession).where(LoginSession.user_id == user_id, LoginSession.id.is_distinct_from(except_id))
    return len(session().scalars(statement.returning(LoginSession.id)).all())


def list_sessions(user_id: uuid.UUID) -> list[LoginSession]:
    """Return the valid sessions of a user, the last used first."""
    sessions = select(LoginSession).where(LoginSession.user_id == user_id, LoginSession.expires_at > clock.now())
    return list(session().scalars(sessions.order_by(LoginSession.last_seen_at.desc()).limit(MAX_SESSIONS)))


def revoke_own_session(login: Login, session_id: uuid.UUID) -> None:
    """End one of the user's own sessions, or raise `NotFound`."""
    own = (LoginSession.id == session_id, LoginSession.user_id == login.user_id)
    workspace_id = session().scalar(delete(LoginSession).where(*own).returning(LoginSession.workspace_id))
    if workspace_id is None:
        raise NotFound
    record_audit_entry(workspace_id, login.actor, "session.revoked", str(session_id))


def revoke_other_sessions(login: Login) -> None:
    """End all sessions of the user but the current one."""
    session_count = revoke_sessions_of(login.user_id, except_id=login.session_id)
    record_user_entry(login.user_id, login.actor, "sessions.revoked", sessions_revoked=session_count)


class OwnWorkspace(NamedTuple):
    """A workspace of a user, and the role there."""

    id: uuid.UUID
    name: str
    role: str


def list_own_workspaces(user_id: uuid.UUID) -> list[OwnWorkspace]:
    """Return the workspaces of a user by name, with the role in each."""
    memberships = select(Workspace.id, Workspace.name, Membership.role).join(Membership)
    own = memberships.where(Membership.user_id == user_id).order_by(Workspace.name, Workspace.id)
    return [OwnWorkspace(*row) for row in session().execute(own.limit(MAX_LIST_LENGTH))]


def switch_workspace(login: Login, workspace_id: uuid.UUID) -> None:
    """Let the current session continue in another workspace of its user, or raise `NotFound`.

    It holds from the next request on; signing in opens this workspace too, until the user switches again.
    """
    own = (Membership.user_id == login.user_id, Membership.workspace_id == workspace_id)
    # The lock keeps the membership until the commit: whoever ends it afterwards ends this session as well.
    membership = session().scalar(select(Membership).where(*own).with_for_update(key_share=True))
    if membership is None:
        raise NotFound
    if workspace_id == login.workspace_id:
        return
    membership.chosen_at = clock.now()
    current = (LoginSession.id == login.session_id, LoginSession.user_id == login.user_id)
    session().execute(update(LoginSession).where(*current).values(workspace_id=workspace_id))
    record_audit_entry(workspace_id, login.actor, "session.switched", str(login.session_id))
    session().flush()


def renew_token(login: Login) -> str:
    """Replace the token of the current session, and return the new one.

    What knew the old one is signed out, and forms that were opened before are not valid any more.
    """
    token = secrets.token_urlsafe(TOKEN_BYTES)
    current = (LoginSession.id == login.session_id, LoginSession.user_id == login.user_id)
    session().execute(update(LoginSession).where(*current).values(digest=_digest(token)))
    return token


def create_session(user: User, membership: Membership, workspace: Workspace, client: Client) -> NewSession:
    """Open a session in a workspace, with a token that is always new."""
    now, token = clock.now(), secrets.token_urlsafe(TOKEN_BYTES)
    login_session = LoginSession(
        id=uuid.uuid4(),
        digest=_digest(token),
        user_id=user.id,
        workspace_id=workspace.id,
        created_at=now,
        last_seen_at=now,
        expires_at=session_expiry(now, now),
        browser=client.browser,
        network=client.network,
    )
    session().add(login_session)
    login = Login(login_session.id, user.id, user.email, membership.role, workspace.id, workspace.name)
    record_audit_entry(workspace.id, login.actor, "session.created", str(login_session.id))
    session().flush()
    return NewSession(token, login)


def _digest(token: str) -> bytes:
    """Return the stored digest of a token; 256 random bits need no key."""
    return hashlib.sha256(token.encode()).digest()
