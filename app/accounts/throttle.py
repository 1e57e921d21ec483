"""Throttle guessing at passwords and codes without locking other users out.

Attempts are counted for each pair of account and client address, and for each address. An account has no counter of
its own, with which anybody could lock its owner out; only codes, which nobody can try without the password, have one.
An unknown e-mail address counts like a known one. The counters are rows of the database, so that they hold for all
processes and need no broker.
"""

import hmac
import math
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.accounts.models import SignInThrottle
from app.accounts.rules import ACCOUNT_ADDRESS_LIMIT, ADDRESS_LIMIT, CODE_LIMIT, RECORDING_PERIOD, Limit
from app.core import clock
from app.core.database import session, transaction
from app.core.errors import TooManyRequests
from app.core.limits.rules import address_prefix
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose

Limits = Mapping[bytes, Limit]
"""Limits by the digest of the counter that each applies to."""


class TooManyAttempts(TooManyRequests):
    """This client has tried too often; the error does not tell whether the account exists."""

    code = "too_many_attempts"
    sentence = "There were too many attempts to sign in; please wait for as long as Retry-After says."


def account_limits(email: str, address: str) -> Limits:
    """Return the limits on attempts at an account's password from an address."""
    pairs = _digests("pair", email, address_prefix(address))
    return {**dict.fromkeys(pairs, ACCOUNT_ADDRESS_LIMIT), **address_limits(address)}


def address_limits(address: str) -> Limits:
    """Return the limit on attempts from an address."""
    return dict.fromkeys(_digests("address", address_prefix(address)), ADDRESS_LIMIT)


def code_limits(user_id: uuid.UUID) -> Limits:
    """Return the limit on attempts at the codes of a user."""
    return dict.fromkeys(_digests("code", str(user_id)), CODE_LIMIT)


def count_attempt(limits: Limits) -> None:
    """Count an attempt before its password or code is looked at, or raise `TooManyAttempts`.

    It counts as failed until `clear_attempt`, in a transaction of its own: simultaneous attempts see each other, and
    the rollback of a failed sign-in does not remove it.
    """
    now = clock.now()
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


def clear_attempt(limits: Limits) -> None:
    """Reset the counters after a successful attempt, except for an address's, which the attempt is taken off.

    That one is not reset, or anybody with an account could clear it.
    """
    _take_off(limits, is_complete=True)


def release_attempt(limits: Limits) -> None:
    """Take an attempt off the counters whose password was right and whose code is still missing.

    No counter is reset, or whoever has the password could clear it between guesses at the code.
    """
    _take_off(limits, is_complete=False)


def _take_off(limits: Limits, *, is_complete: bool) -> None:
    with transaction():
        for counter in _lock_counters(limits, clock.now()):
            is_reset = is_complete and limits[counter.digest] is not ADDRESS_LIMIT
            counter.failures = 0 if is_reset else max(0, counter.failures - 1)
            counter.free_at = None


def count_failure(email: str) -> int:
    """Count a failed attempt within the caller's transaction, and return how many an account has had within a day."""
    now = clock.now()
    counters = _lock_counters(_digests("recorded", email), now)
    for counter in counters:
        if counter.expires_at <= now:
            counter.failures, counter.expires_at = 0, now + RECORDING_PERIOD
        counter.failures += 1
    return max(counter.failures for counter in counters)


def _lock_counters(digests: Iterable[bytes], now: datetime) -> list[SignInThrottle]:
    """Return the counters, created if missing, locked and ordered by digest so that no two requests deadlock."""
    rows = [{"digest": digest, "failures": 0, "expires_at": now} for digest in sorted(digests)]
    session().execute(insert(SignInThrottle).values(rows).on_conflict_do_nothing())
    digest_list = [row["digest"] for row in rows]
    counters = select(SignInThrottle).where(SignInThrottle.digest.in_(digest_list)).order_by(SignInThrottle.digest)
    return list(session().scalars(counters.with_for_update()))


def _digests(*parts: str) -> list[bytes]:
    """Return keyed digests, so that the table does not tell who has an account here.

    There is one of each pepper, and so a counter: the older counters hold on while the newest begins to count.
    """
    message = "\0".join(parts).encode()
    return [hmac.digest(key, message, "sha256") for key in pepper_ring().derive_all(Purpose.SIGN_IN_THROTTLE)]
