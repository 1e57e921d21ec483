"""Rules of accounts: valid addresses, roles, how long sessions last, and the limits on attempts to sign in."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

OWNER, ADMIN, MEMBER = ROLES = ("owner", "admin", "member")

MAX_NAME_LENGTH = 120
MAX_EMAIL_LENGTH = 254

IDLE_LIMIT = timedelta(hours=12)
SESSION_LIMIT = timedelta(days=30)

LAST_SEEN_PRECISION = timedelta(minutes=1)

_EMAIL = re.compile(r"[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)+\Z")


def is_email(text: str) -> bool:
    """Tell whether a text has the form of an e-mail address."""
    return len(text) <= MAX_EMAIL_LENGTH and _EMAIL.match(text) is not None


def may_change(role: str) -> bool:
    """Tell whether a role may change things in the workspace; a member may only read."""
    return role in (OWNER, ADMIN)


def session_expiry(created_at: datetime, last_seen_at: datetime) -> datetime:
    """Return when a session ends if it is not used again."""
    return min(last_seen_at + IDLE_LIMIT, created_at + SESSION_LIMIT)


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


PAIR_LIMIT = Limit(5, timedelta(hours=24), max_wait_s=15 * 60)
"""For one account from one address. A limit for an account from everywhere would let anybody lock it."""

ADDRESS_LIMIT = Limit(50, timedelta(hours=1), max_wait_s=8)
"""For one address and all accounts; its waits are short, since other users may share the address."""
