"""What signed-in users change about their own accounts; each change asks for what an open session does not prove."""

import hmac
import uuid
from functools import partial

from sqlalchemy import select

from app.accounts import passwords, second_factor
from app.accounts.codes import canonical_code
from app.accounts.failures import record_failure
from app.accounts.models import User
from app.accounts.rules import Client, FailureReason, password_problem
from app.accounts.service import record_user_entry
from app.accounts.sessions import Login, revoke_sessions_of
from app.accounts.throttle import account_limits, clear_attempt, code_limits, count_attempt
from app.core.database import after_commit, session, transaction
from app.core.errors import Forbidden, Unprocessable


class WrongPassword(Forbidden):
    """The password that was asked for is wrong."""

    code = "wrong_password"
    sentence = "This is not your password."


class WrongProof(Forbidden):
    """Neither the password nor a valid code."""

    code = "wrong_proof"
    sentence = "This is neither your password nor a valid code."


def change_own_password(login: Login, old_password: str, new_password: str, client: Client) -> None:
    """Set a password that the user has chosen, and end the user's other sessions.

    Raise `WrongPassword`, `TooManyAttempts`, or `Unprocessable` for a password that is too weak.
    """
    problem = password_problem(new_password, login.email)
    if problem is None and hmac.compare_digest(new_password.encode(), old_password.encode()):
        problem = "This is the password that you have."
    if problem:
        raise Unprocessable(problem)
    stored_hash = _check_password(login, old_password, client)
    new_hash = passwords.compute_hash(new_password)
    user = session().scalars(select(User).where(User.id == login.user_id).with_for_update()).one()
    if user.password_hash != stored_hash:
        raise WrongPassword
    user.password_hash = new_hash
    session_count = revoke_sessions_of(user.id, except_id=login.session_id)
    record_user_entry(user.id, login.actor, "password.changed", sessions_revoked=session_count)
    session().flush()
    after_commit(partial(clear_attempt, account_limits(login.email, client.address)))


def _check_password(login: Login, password: str, client: Client) -> str:
    """Return the hash of the user's password, or raise `WrongPassword` or `TooManyAttempts`."""
    count_attempt(account_limits(login.email, client.address))
    stored_hash = _password_hash(login.user_id)
    if not passwords.is_correct(stored_hash, password):
        record_failure(login.email, login.user_id, client, FailureReason.WRONG_OWN_PASSWORD)
        raise WrongPassword
    return stored_hash


def begin_second_factor(login: Login, password: str, client: Client) -> None:
    """Make the secret of a second factor; raise `WrongPassword`, `TooManyAttempts` or `SecondFactorEnabled`."""
    _check_password(login, password, client)
    second_factor.begin_enrolment(login)
    after_commit(partial(clear_attempt, account_limits(login.email, client.address)))


def disable_second_factor(login: Login, proof: str, client: Client) -> None:
    """Disable the user's second factor by a password or a code; raise `WrongProof` or `TooManyAttempts`."""
    count_attempt(account_limits(login.email, client.address))
    if canonical_code(proof):
        count_attempt(code_limits(login.user_id))
    with transaction():
        is_code = second_factor.accept_code(login.user_id, proof)
    if not is_code and not passwords.is_correct(_password_hash(login.user_id), proof):
        record_failure(login.email, login.user_id, client, FailureReason.WRONG_OWN_PROOF)
        raise WrongProof
    second_factor.delete_factor(login.user_id, login.actor)
    limits = {**account_limits(login.email, client.address), **code_limits(login.user_id)}
    after_commit(partial(clear_attempt, limits))


def _password_hash(user_id: uuid.UUID) -> str:
    with transaction():
        return session().scalars(select(User.password_hash).where(User.id == user_id)).one()
