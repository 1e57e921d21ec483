"""Throttle guessing at passwords without locking other users out.

Attempts are counted for each pair of account and client address, and for each address. An account has no counter of
its own, with which anybody could lock its owner out. An unknown e-mail address counts like a known one. The counters
are rows of the database, so that they hold for all processes and need no broker.
"""

import hmac
import math
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.accounts.models import SignInThrottle
from app.accounts.rules import ADDRESS_LIMIT, PAIR_LIMIT, Limit, address_prefix
from app.core import clock
from app.core.database import session, transaction
from app.core.errors import TooManyRequests
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose


class TooManyAttempts(TooManyRequests):
    """This client has tried too often; the error does not tell whether the account exists."""

    code = "too_many_attempts"
    sentence = "There were too many attempts to sign in; please wait for as long as Retry-After says."


def count_attempt(email: str, address: str) -> None:
    """Count an attempt before its password is looked at, or raise `TooManyAttempts`.

    It counts as failed until `clear_attempt`, in a transaction of its own: simultaneous attempts see each other, and
    the rollback of a failed sign-in does not remove it.
    """
    now, limits = clock.now(), _limits(email, address)
    with transaction():
        counters = _lock_counters(limits, now)
        waits_s = [(counter.free_at - now).total_seconds() for counter in counters if counter.free_at]
        if max(waits_s, default=0) > 0:
            raise TooManyAttempts(math.ceil(max(waits_s)))
        for counter in counters:
            limit = limits[counter.digest]
            counter.failures = 1 if counter.expires_at <= now else counter.failures + 1
            wait = limit.wait(counter.failures)
            counter.free_at = now + wait if wait else None
            counter.expires_at = now + limit.reset_after


def clear_attempt(email: str, address: str) -> None:
    """Reset the counter of the pair after a successful attempt, and take the attempt off the counter of the address.

    The latter is not reset, or anybody with an account could clear it.
    """
    now, limits = clock.now(), _limits(email, address)
    with transaction():
        for counter in _lock_counters(limits, now):
            is_pair = limits[counter.digest] is PAIR_LIMIT
            counter.failures = 0 if is_pair else max(0, counter.failures - 1)
            counter.free_at = None


def _lock_counters(limits: dict[bytes, Limit], now: datetime) -> list[SignInThrottle]:
    """Return the counters, created if missing, locked and ordered by digest so that no two requests deadlock."""
    rows = [{"digest": digest, "failures": 0, "expires_at": now} for digest in sorted(limits)]
    session().execute(insert(SignInThrottle).values(rows).on_conflict_do_nothing())
    counters = select(SignInThrottle).where(SignInThrottle.digest.in_(limits)).order_by(SignInThrottle.digest)
    return list(session().scalars(counters.with_for_update()))


def _limits(email: str, address: str) -> dict[bytes, Limit]:
    prefix = address_prefix(address)
    return {
        **dict.fromkeys(_digests("pair", email, prefix), PAIR_LIMIT),
        **dict.fromkeys(_digests("address", prefix), ADDRESS_LIMIT),
    }


def _digests(*parts: str) -> list[bytes]:
    """Return keyed digests, so that the table does not tell who has an account here.

    There is one of each pepper, and so a counter: the older counters hold on while the newest begins to count.
    """
    message = "\0".join(parts).encode()
    return [hmac.digest(key, message, "sha256") for key in pepper_ring().derive_all(Purpose.SIGN_IN_THROTTLE)]
