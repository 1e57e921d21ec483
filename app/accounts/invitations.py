"""Invite people to a workspace by a link that works once; its token is shown once and stored as a digest."""

import hashlib
import secrets
import uuid
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import ColumnElement, and_, exists, func, select, tuple_, update

from app.accounts import sessions
from app.accounts.models import Invitation, Membership, User, Workspace
from app.accounts.rules import (
    INVITATION_LIFETIME,
    MAX_OPEN_INVITATIONS,
    ROLES,
    Client,
    is_email,
    may_grant,
    password_problem,
)
from app.accounts.service import add_user, canonical_email, record_audit_entry
from app.accounts.sessions import TOKEN_BYTES, Login, NewSession
from app.accounts.team import OwnersOnly
from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, Forbidden, NotFound, Unprocessable


class InvalidInvitation(NotFound):
    """There is no such invitation, or it was used, withdrawn or has expired."""

    sentence = "This invitation is not valid any more. Ask whoever has invited you for a new one."


class MemberAlready(Conflict):
    """Who is invited belongs to the workspace."""

    code = "member_already"
    sentence = "A user with this e-mail address belongs to this workspace already."


class ForeignInvitation(Forbidden):
    """The invitation is for another e-mail address than that of the signed-in user."""

    sentence = "This invitation is for another user. Sign out, and open its link again."


@dataclass(frozen=True, slots=True)
class NewInvitation:
    """An invitation that was just made, with the only copy of its token."""

    token: str = field(repr=False)
    workspace_id: uuid.UUID
    email: str
    role: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class OpenInvitation:
    """An invitation as whoever has its link sees it."""

    workspace_name: str
    email: str
    role: str
    has_account: bool
    """Whether a user has the e-mail address, who then signs in instead of setting a password."""


def create_invitation(login: Login, email: str, role: str) -> NewInvitation:
    """Invite somebody for a week; an earlier invitation of the same address ends. The token is never shown again."""
    email = canonical_email(email)
    if not is_email(email):
        raise Unprocessable("This is not an e-mail address.")
    if not may_grant(login.role, role):
        raise OwnersOnly
    _require_room(login.workspace_id, email)
    now, token = clock.now(), secrets.token_urlsafe(TOKEN_BYTES)
    invitation = Invitation(
        workspace_id=login.workspace_id,
        id=uuid.uuid4(),
        digest=_digest(token),
        email=email,
        role=role,
        created_by=login.user_id,
        created_at=now,
        expires_at=now + INVITATION_LIFETIME,
    )
    session().add(invitation)
    # The audit log holds no e-mail address.
    record_audit_entry(login.workspace_id, login.actor, "invitation.created", str(invitation.id), role=role)
    session().flush()
    return NewInvitation(token, login.workspace_id, email, role, invitation.expires_at)


def list_invitations(workspace_id: uuid.UUID) -> list[Invitation]:
    """Return the invitations that can still be accepted, newest first."""
    invitations = select(Invitation).join(Membership, _is_granted()).where(Invitation.workspace_id == workspace_id)
    invitations = invitations.where(_is_open())
    return list(session().scalars(invitations.order_by(Invitation.created_at.desc()).limit(MAX_OPEN_INVITATIONS)).all())


def revoke_invitation(login: Login, invitation_id: uuid.UUID) -> None:
    """Withdraw an invitation, or raise `InvalidInvitation` if it cannot be accepted any more."""
    key = (Invitation.workspace_id == login.workspace_id, Invitation.id == invitation_id)
    revoked = update(Invitation).where(*key, _is_open()).values(revoked_at=clock.now()).returning(Invitation.id)
    if session().scalar(revoked) is None:
        raise InvalidInvitation
    record_audit_entry(login.workspace_id, login.actor, "invitation.revoked", str(invitation_id))


def get_invitation(workspace_id: uuid.UUID, token: str) -> OpenInvitation:
    """Return what a link invites to, or raise `InvalidInvitation`."""
    invitation = _find(workspace_id, token)
    workspace = session().get_one(Workspace, workspace_id)
    return OpenInvitation(workspace.name, invitation.email, invitation.role, _has_account(invitation.email))


def accept_as_new_user(workspace_id: uuid.UUID, token: str, password: str, client: Client) -> NewSession:
    """Create the invited user with a password of their own, and open a session.

    Raise `InvalidInvitation`, `EmailTaken`, or `Unprocessable` for a password that is too weak.
    """
    invitation = _find(workspace_id, token, is_locked=True)
    if problem := password_problem(password, invitation.email):
        raise Unprocessable(problem)
    user_id = add_user(workspace_id, invitation.email, invitation.role, password).id
    session().flush()
    _accept(invitation, user_id)
    user, workspace = session().get_one(User, user_id), session().get_one(Workspace, workspace_id)
    return sessions.create_session(user, session().get_one(Membership, (workspace_id, user_id)), workspace, client)


def accept_as_user(login: Login, workspace_id: uuid.UUID, token: str) -> None:
    """Let the signed-in user join; raise `InvalidInvitation`, `ForeignInvitation` or `MemberAlready`."""
    invitation = _find(workspace_id, token, is_locked=True)
    if invitation.email != login.email:
        raise ForeignInvitation
    if session().get(Membership, (workspace_id, login.user_id)) is not None:
        raise MemberAlready
    now = clock.now()
    session().add(Membership(workspace_id=workspace_id, user_id=login.user_id, role=invitation.role, created_at=now))
    _accept(invitation, login.user_id)


def _accept(invitation: Invitation, user_id: uuid.UUID) -> None:
    invitation.accepted_at = clock.now()
    details = {"role": invitation.role, "invitation": str(invitation.id)}
    record_audit_entry(invitation.workspace_id, f"user {user_id}", "invitation.accepted", str(user_id), **details)
    session().flush()


def _find(workspace_id: uuid.UUID, token: str, *, is_locked: bool = False) -> Invitation:
    """Return the invitation of a token, which whoever has made it may still make; locked, so that it works once."""
    key = (Invitation.workspace_id == workspace_id, Invitation.digest == _digest(token))
    statement = select(Invitation).join(Membership, _is_granted()).where(*key, _is_open())
    if is_locked:
        statement = statement.with_for_update(of=Invitation)
    invitation = session().scalar(statement)
    if invitation is None:
        raise InvalidInvitation
    return invitation


def _require_room(workspace_id: uuid.UUID, email: str) -> None:
    """End earlier invitations of an address, and raise if it is a member's, or if there are too many others."""
    member = select(Membership.user_id).join(User, User.id == Membership.user_id)
    if session().scalar(select(member.where(Membership.workspace_id == workspace_id, User.email == email).exists())):
        raise MemberAlready
    # Locked, so that simultaneous requests count each other's.
    session().execute(select(Workspace.id).where(Workspace.id == workspace_id).with_for_update(key_share=True))
    of_workspace = (Invitation.workspace_id == workspace_id, _is_open())
    session().execute(update(Invitation).where(*of_workspace, Invitation.email == email).values(revoked_at=clock.now()))
    invitations = select(func.count()).select_from(Invitation).join(Membership, _is_granted())
    count = session().scalar(invitations.where(*of_workspace)) or 0
    if count >= MAX_OPEN_INVITATIONS:
        raise Conflict(f"A workspace has {MAX_OPEN_INVITATIONS} open invitations at most. Withdraw some first.")


def _has_account(email: str) -> bool:
    return bool(session().scalar(select(exists().where(User.email == email))))


def _is_open() -> ColumnElement[bool]:
    return and_(
        Invitation.accepted_at.is_(None),
        Invitation.revoked_at.is_(None),
        Invitation.expires_at > clock.now(),
    )


def _is_granted() -> ColumnElement[bool]:
    """Tell, in a join with memberships, whether whoever has made an invitation may still make it."""
    grants = [(role, granted) for role in ROLES for granted in ROLES if may_grant(role, granted)]
    return and_(
        Membership.workspace_id == Invitation.workspace_id,
        Membership.user_id == Invitation.created_by,
        tuple_(Membership.role, Invitation.role).in_(grants),
    )


def _digest(token: str) -> bytes:
    """Return the stored digest of a token; 256 random bits need no key."""
    return hashlib.sha256(token.encode()).digest()
