"""What an account may look like, how long its sessions last, and how often one may try to sign in."""

import ipaddress
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
    """Tell whether a text can be an e-mail address; only a message could prove more."""
    return len(text) <= MAX_EMAIL_LENGTH and _EMAIL.match(text) is not None


def may_change(role: str) -> bool:
    """Tell whether a role may change what belongs to the workspace; a member only reads."""
    return role in (OWNER, ADMIN)


def session_ends_at(created_at: datetime, last_seen_at: datetime) -> datetime:
    """Return when a session ends if nothing more is heard of it."""
    return min(last_seen_at + IDLE_LIMIT, created_at + SESSION_LIMIT)


@dataclass(frozen=True, slots=True)
class Limit:
    """How many attempts are free, and when a quiet counter starts anew."""

    free: int
    forgotten_after: timedelta
    longest_wait_s: int

    def wait(self, failures: int) -> timedelta:
        """Return the pause after this many failures: none at first, then 2, 4, 8 … seconds."""
        over = max(0, failures - self.free)
        # No number of failures may make a number that no clock can add.
        return timedelta(seconds=min(2 ** min(over, 30), self.longest_wait_s) if over else 0)


PAIR_LIMIT = Limit(5, timedelta(hours=24), longest_wait_s=15 * 60)
"""Of one account from one address. There is none of an account from everywhere, which would let anybody lock it."""

ADDRESS_LIMIT = Limit(50, timedelta(hours=1), longest_wait_s=8)
"""Of one address whatever the account; who shares it with a guesser waits for seconds and is not locked out."""


def address_prefix(address: str) -> str:
    """Return what stands for a client: its IPv4 address, or the network that a provider gives one IPv6 customer."""
    try:
        read = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(read, ipaddress.IPv6Address):
        return str(read.ipv4_mapped or ipaddress.ip_network((read.packed, 64), strict=False))
    return str(read)
