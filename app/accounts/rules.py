"""Rules of accounts: valid addresses and passwords, roles, how long sessions last, and the limits on attempts."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from app.core.clients import browser_family, network_of
from app.core.wire.text import has_control_character, is_visible

OWNER, ADMIN, MEMBER = ROLES = ("owner", "admin", "member")

MAX_NAME_LENGTH = 120
MAX_EMAIL_LENGTH = 254
MAX_USER_AGENT_LENGTH = 512
"""What is read of a header of up to 8 KB, which is matched with patterns that take longer than linear time."""
MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH = 12, 200
MIN_NAME_IN_PASSWORD = 4
"""A shorter name of an e-mail address is in many passwords by chance."""
MIN_PASSWORD_VARIETY = 6
"""How many different characters a password has at least."""

IDLE_LIMIT = timedelta(hours=12)
SESSION_LIMIT = timedelta(days=30)

INVITATION_LIFETIME = timedelta(days=7)
MAX_OPEN_INVITATIONS = 100
"""Of a workspace at a time."""

LAST_SEEN_PRECISION = timedelta(minutes=1)

_EMAIL = re.compile(r"[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)+\Z")


def is_email(text: str) -> bool:
    """Tell whether a text has the form of an e-mail address."""
    return len(text) <= MAX_EMAIL_LENGTH and _EMAIL.match(text) is not None and not has_control_character(text)


def password_problem(password: str, email: str) -> str | None:
    """Return what is wrong with a chosen password, or None. Its length counts, not the kinds of its characters.

    What `CredentialsSchema` would reject is a problem, since nobody could sign in with it.
    """
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        return f"A password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters."
    if has_control_character(password) or not is_visible(password):
        return "A password has no control characters, and not only blank ones."
    if len(set(password)) < MIN_PASSWORD_VARIETY:
        return "This password repeats too few characters."
    name = email.partition("@")[0]
    if len(name) >= MIN_NAME_IN_PASSWORD and name in password.lower():
        return "A password must not contain your e-mail address."
    return None


def may_change(role: str) -> bool:
    """Tell whether a role may change things in the workspace; a member may only read."""
    return role in (OWNER, ADMIN)


def may_grant(role: str, granted_role: str) -> bool:
    """Tell whether a role may give another, or take it away; only owners do so with that of an owner."""
    return may_change(role) and (role == OWNER or granted_role != OWNER)


def session_expiry(created_at: datetime, last_seen_at: datetime) -> datetime:
    """Return when a session ends if it is not used again."""
    return min(last_seen_at + IDLE_LIMIT, created_at + SESSION_LIMIT)


@dataclass(frozen=True, slots=True)
class Client:
    """The address and the user agent of whoever sends a request."""

    address: str
    user_agent: str = ""

    @property
    def network(self) -> str | None:
        """The network of the address, if it is one."""
        try:
            return network_of(self.address)
        except ValueError:
            return None

    @property
    def browser(self) -> str:
        """The family of the browser."""
        return browser_family(self.user_agent[:MAX_USER_AGENT_LENGTH])


@dataclass(frozen=True, slots=True)
class Limit:
    """How many attempts are free of a wait, after how long without one a counter is reset, and the longest wait."""

    free_attempts: int
    reset_after: timedelta
    max_wait_s: int

    def wait(self, failures: int) -> timedelta:
        """Return the pause after this many failures: none at first, then 2, 4, 8 … seconds."""
        excess = max(0, failures - self.free_attempts)
        # The exponent is bounded, since a timedelta overflows.
        return timedelta(seconds=min(2 ** min(excess, 30), self.max_wait_s) if excess else 0)


ACCOUNT_ADDRESS_LIMIT = Limit(5, timedelta(hours=24), max_wait_s=15 * 60)
"""For sign-ins to one account from one address. A limit for an account from everywhere would let anybody lock it."""

ADDRESS_LIMIT = Limit(50, timedelta(hours=1), max_wait_s=8)
"""For one address and all accounts; its waits are short, since other users may share the address."""

CODE_LIMIT = Limit(20, timedelta(hours=24), max_wait_s=60 * 60)
"""For the codes of one account from everywhere: only somebody who has its password can use it up. Guessing from many
addresses gets fewer than a hundred of a million codes in a day."""

MAX_RECORDED_FAILURES = 20
"""How many failed attempts for one account are in the audit log for one day; an attacker makes as many as they like."""
RECORDING_PERIOD = timedelta(days=1)


class FailureReason(StrEnum):
    """Why an attempt to sign in, or to confirm who one is, has failed."""

    WRONG_PASSWORD = "wrong password"
    WRONG_CODE = "wrong code"
    UNKNOWN_IDENTITY = "unknown identity"
    WRONG_OWN_PASSWORD = "wrong password of a signed-in user"
    WRONG_OWN_PROOF = "wrong proof of a signed-in user"

    @property
    def label(self) -> str:
        """The reason as a label of metrics has it."""
        return self.replace(" ", "_")
