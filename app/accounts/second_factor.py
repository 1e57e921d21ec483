"""The second factor of a user: enable it, check its codes, disable it."""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, exists, select

from app.accounts import codes
from app.accounts.members import lock_user
from app.accounts.models import SecondFactor
from app.accounts.service import COMMAND_LINE_ACTOR, record_user_entry
from app.accounts.sessions import Login
from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, Forbidden
from app.core.seal import Seal
from app.core.settings import current_settings

ENROLMENT_LIFETIME = timedelta(minutes=10)
"""How long a secret can be seen and confirmed; the password is asked for before, and somebody else may come after."""


class SecondFactorEnabled(Conflict):
    """The user has a second factor already."""

    code = "second_factor_enabled"
    sentence = "You have a second factor already. Switch it off before you set up another one."


class WrongConfirmation(Forbidden):
    """The code is not that of the secret that was shown."""

    code = "wrong_code"
    sentence = "This is not the code that the app shows now. Please check the clock of your device and try again."


class EnrolmentExpired(Forbidden):
    """There is no secret to confirm, or it was made too long ago."""

    code = "enrolment_expired"
    sentence = "Setting it up has taken too long. Please start again."


@dataclass(frozen=True, slots=True)
class Enrolment:
    """What a user's authenticator app has to know."""

    secret: str
    uri: str


@dataclass(frozen=True, slots=True)
class SecondFactorState:
    """Whether a user has a second factor, and how many recovery codes are left."""

    is_enabled: bool
    recovery_code_count: int


def get_state(user_id: uuid.UUID) -> SecondFactorState:
    """Return the state of a user's second factor."""
    factor = session().get(SecondFactor, user_id)
    if factor is None or factor.confirmed_at is None:
        return SecondFactorState(is_enabled=False, recovery_code_count=0)
    return SecondFactorState(is_enabled=True, recovery_code_count=len(factor.recovery_digests))


def is_enabled(user_id: uuid.UUID) -> bool:
    """Tell whether a user signs in with a code."""
    confirmed = exists().where(SecondFactor.user_id == user_id, SecondFactor.confirmed_at.is_not(None))
    return bool(session().scalar(select(confirmed)))


def begin_enrolment(login: Login) -> None:
    """Store a new secret, which has no effect before a code confirms it.

    The caller has asked for the password, or a stolen session could set up the thief's own app.
    """
    factor = _lock_factor(login.user_id)
    if factor and factor.confirmed_at:
        raise SecondFactorEnabled
    if factor is None:
        factor = SecondFactor(user_id=login.user_id)
        session().add(factor)
    factor.sealed_secret = _seal().encrypt(codes.new_secret().encode())
    factor.created_at, factor.last_step, factor.recovery_digests = clock.now(), 0, []
    session().flush()


def find_enrolment(login: Login) -> Enrolment | None:
    """Return what the user's app has to know until a code confirms it or it expires, and None afterwards."""
    factor = session().get(SecondFactor, login.user_id)
    if factor is None or factor.confirmed_at or _is_expired(factor):
        return None
    secret = _secret(factor)
    return Enrolment(secret, codes.enrolment_uri(secret, login.email, current_settings().service_name))


def confirm_enrolment(login: Login, code: str) -> list[str]:
    """Enable the second factor with a first code, and return the recovery codes, whose only copy this is."""
    factor = _lock_factor(login.user_id)
    if factor and factor.confirmed_at:
        raise SecondFactorEnabled
    if factor is None or _is_expired(factor):
        raise EnrolmentExpired
    now = clock.now()
    step = codes.matching_step(_secret(factor), codes.canonical_code(code) or "", now, 0)
    if step is None:
        raise WrongConfirmation
    recovery_codes = codes.new_recovery_codes()
    factor.confirmed_at, factor.last_step = now, step
    factor.recovery_digests = [codes.recovery_digest(codes.canonical_code(text) or "") for text in recovery_codes]
    record_user_entry(login.user_id, login.actor, "second_factor.enabled")
    session().flush()
    return recovery_codes


def accept_code(user_id: uuid.UUID, text: str) -> bool:
    """Tell whether a code is valid, and make it invalid; simultaneous attempts with one code see each other."""
    factor, code = _lock_factor(user_id), codes.canonical_code(text)
    if factor is None or factor.confirmed_at is None or code is None:
        return False
    digest = codes.recovery_digest(code)
    if digest in factor.recovery_digests:
        factor.recovery_digests = [other for other in factor.recovery_digests if other != digest]
        left = len(factor.recovery_digests)
        record_user_entry(user_id, f"user {user_id}", "recovery_code.used", left=left)
        return True
    step = codes.matching_step(_secret(factor), code, clock.now(), factor.last_step)
    if step is None:
        return False
    factor.last_step = step
    return True


def delete_factor(user_id: uuid.UUID, actor: str) -> None:
    """Disable a user's second factor, if there is one."""
    statement = delete(SecondFactor).where(SecondFactor.user_id == user_id)
    for confirmed_at in session().scalars(statement.returning(SecondFactor.confirmed_at)).all():
        if confirmed_at:
            record_user_entry(user_id, actor, "second_factor.disabled")
    session().flush()


def reset(email: str, actor: str = COMMAND_LINE_ACTOR) -> None:
    """Disable the second factor of a user who has lost it."""
    delete_factor(lock_user(email).id, actor)


def _lock_factor(user_id: uuid.UUID) -> SecondFactor | None:
    return session().get(SecondFactor, user_id, with_for_update=True, populate_existing=True)


def _is_expired(factor: SecondFactor) -> bool:
    return clock.now() >= factor.created_at + ENROLMENT_LIFETIME


def _secret(factor: SecondFactor) -> str:
    return _seal().decrypt(factor.sealed_secret).decode()


def _seal() -> Seal:
    return Seal([secret.reveal() for secret in current_settings().sealing_secrets])
