"""Find the user whom an OpenID provider has authenticated."""

from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from app.accounts.members import lock_user
from app.accounts.models import User, UserIdentity
from app.accounts.service import COMMAND_LINE_ACTOR, canonical_email, record_user_entry
from app.core import clock
from app.core.database import session


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a provider has authenticated: its name, its id of the person, and the e-mail address it knows."""

    issuer: str
    subject: str
    email: str
    is_email_verified: bool


def find_user(identity: Identity) -> User | None:
    """Return the user with this identity, or None.

    An unknown identity is linked to the user with its e-mail address, if the provider has verified the address and
    the user has no other identity there. No user is ever created.
    """
    user = _find_by_subject(identity)
    if user is not None or not identity.is_email_verified:
        return user
    user = find_by_email(identity)
    if user is None:
        return None
    row = {"issuer": identity.issuer, "subject": identity.subject, "user_id": user.id, "created_at": clock.now()}
    link = insert(UserIdentity).values(row).on_conflict_do_nothing().returning(UserIdentity.user_id)
    if session().scalar(link):
        record_user_entry(user.id, f"user {user.id}", "identity.linked", issuer=identity.issuer)
    # A conflict is either the same link, made by another request, or a link of this user to another subject.
    return _find_by_subject(identity)


def find_by_email(identity: Identity) -> User | None:
    """Return the user with the identity's e-mail address, whoever has verified it."""
    return session().scalar(select(User).where(User.email == canonical_email(identity.email)))


def unlink(email: str, actor: str = COMMAND_LINE_ACTOR) -> None:
    """Forget the identities of a user, who is found by e-mail address at the next sign-in."""
    user = lock_user(email)
    for issuer in session().scalars(
        delete(UserIdentity).where(UserIdentity.user_id == user.id).returning(UserIdentity.issuer)
    ):
        record_user_entry(user.id, actor, "identity.unlinked", issuer=issuer)


def _find_by_subject(identity: Identity) -> User | None:
    users = select(User).join(UserIdentity, UserIdentity.user_id == User.id)
    return session().scalar(
        users.where(UserIdentity.issuer == identity.issuer, UserIdentity.subject == identity.subject)
    )
