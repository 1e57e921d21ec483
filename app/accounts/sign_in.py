"""Sign in: by password, by an identity at a provider, and by the code of a second factor.

What fails is recorded in transactions of its own, before the caller's transaction has begun to use its connection.
"""

import hashlib
import uuid
from dataclasses import dataclass
from functools import partial

from sqlalchemy import select

from app.accounts import identities, passwords, second_factor
from app.accounts.failures import record_failure
from app.accounts.identities import Identity
from app.accounts.models import Membership, User, Workspace
from app.accounts.rules import Client, FailureReason
from app.accounts.schemas import Credentials
from app.accounts.service import canonical_email
from app.accounts.sessions import NewSession, create_session, revoke_session
from app.accounts.throttle import account_limits, clear_attempt, code_limits, count_attempt, release_attempt
from app.core.database import after_commit, session, transaction
from app.core.errors import Unauthorized


class WrongCredentials(Unauthorized):
    """The e-mail address or the password is wrong; deliberately the same error for either."""

    code = "wrong_credentials"
    sentence = "No user has this e-mail address and this password."


class UnknownIdentity(Unauthorized):
    """The provider has authenticated somebody who is no user here."""

    code = "unknown_identity"
    sentence = "Nobody here has this identity, or its verified e-mail address. Ask the operator to add you."


class WrongCode(Unauthorized):
    """The code of the second factor is wrong."""

    code = "wrong_code"
    sentence = "This code is wrong, too old, or was used before."


class SignInExpired(Unauthorized):
    """The first step of signing in is not valid any more."""

    code = "sign_in_expired"
    sentence = "That took too long, or your account has changed meanwhile. Please sign in again."


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """A sign-in that lacks the code of a second factor."""

    user_id: uuid.UUID
    fingerprint: str
    """Of the stored password: a new one ends pending sign-ins too."""


class SecondFactorRequired(Unauthorized):
    """Everything is right so far, and the user has a second factor."""

    code = "second_factor_required"
    sentence = "This user has a second factor: send its current code, or a recovery code, as `code` too."

    def __init__(self, pending: PendingSignIn) -> None:
        super().__init__()
        self.pending = pending


def sign_in(credentials: Credentials, client: Client, previous_token: str | None = None) -> NewSession:
    """Open a session by password, and by code where the user has a second factor.

    Raise `WrongCredentials`, `SecondFactorRequired`, `WrongCode` or `TooManyAttempts`. The token is always new, and the
    session of `previous_token` ends, which prevents session fixation.
    """
    email = canonical_email(credentials.email)
    count_attempt(account_limits(email, client.address))
    with transaction():
        user = session().scalar(select(User).where(User.email == email))
    # No connection is held meanwhile.
    is_correct = passwords.is_correct(user.password_hash if user else None, credentials.password)
    if user is None or not is_correct:
        record_failure(email, user.id if user else None, client, FailureReason.WRONG_PASSWORD)
        raise WrongCredentials
    _check_second_factor(user, credentials.code, client)
    return _open_session(user, client, previous_token)


def sign_in_by_identity(identity: Identity, client: Client, previous_token: str | None = None) -> NewSession:
    """Open a session for whom a provider has authenticated; raise `UnknownIdentity` or `SecondFactorRequired`."""
    with transaction():
        user = identities.find_user(identity)
        user_by_email = identities.find_by_email(identity) if user is None else None
    if user is None:
        record_failure(
            canonical_email(identity.email),
            user_by_email.id if user_by_email else None,
            client,
            FailureReason.UNKNOWN_IDENTITY,
        )
        raise UnknownIdentity
    count_attempt(account_limits(user.email, client.address))
    _check_second_factor(user, None, client)
    return _open_session(user, client, previous_token)


def complete_sign_in(
    pending: PendingSignIn, code: str, client: Client, previous_token: str | None = None
) -> NewSession:
    """Open the session of a pending sign-in by a code; raise `WrongCode`, `SignInExpired` or `TooManyAttempts`."""
    with transaction():
        user = session().get(User, pending.user_id)
        is_valid = user is not None and pending == _pending(user) and second_factor.is_enabled(user.id)
    if user is None or not is_valid:
        raise SignInExpired
    count_attempt(account_limits(user.email, client.address))
    _check_second_factor(user, code, client)
    return _open_session(user, client, previous_token)


def _check_second_factor(user: User, code: str | None, client: Client) -> None:
    with transaction():
        is_required = second_factor.is_enabled(user.id)
    if not is_required:
        return
    if code is None:
        release_attempt(account_limits(user.email, client.address))
        raise SecondFactorRequired(_pending(user))
    count_attempt(code_limits(user.id))
    with transaction():
        is_valid = second_factor.accept_code(user.id, code)
    if not is_valid:
        record_failure(user.email, user.id, client, FailureReason.WRONG_CODE)
        raise WrongCode
    after_commit(partial(clear_attempt, code_limits(user.id)))


def _open_session(user: User, client: Client, previous_token: str | None) -> NewSession:
    row = _chosen_membership(user)
    if row is None:
        raise WrongCredentials
    after_commit(partial(clear_attempt, account_limits(user.email, client.address)))
    if previous_token:
        revoke_session(previous_token)
    return create_session(user, *row, client)


def _chosen_membership(user: User) -> tuple[Membership, Workspace] | None:
    """Return the membership and the workspace that a user has switched to last, or has joined first, or None.

    Lock the user until the session is committed. None also if the password was changed while it was being compared:
    the change has revoked all sessions, and would not see this one.
    """
    password_hash = select(User.password_hash).where(User.id == user.id).with_for_update(read=True)
    if session().scalar(password_hash) != user.password_hash:
        return None
    memberships = select(Membership, Workspace).join(Workspace).where(Membership.user_id == user.id)
    order = (Membership.chosen_at.desc().nulls_last(), Membership.created_at, Workspace.id)
    row = session().execute(memberships.order_by(*order).limit(1)).first()
    return (row[0], row[1]) if row else None


def _pending(user: User) -> PendingSignIn:
    return PendingSignIn(user.id, hashlib.sha256(user.password_hash.encode()).hexdigest())
