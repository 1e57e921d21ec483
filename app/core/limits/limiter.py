"""Limit requests and enforce quotas."""

import uuid
from collections.abc import Hashable
from datetime import UTC, datetime

from flask import Flask, current_app

from app.core.errors import Forbidden, TooManyRequests
from app.core.limits.counters import Counter, SharedCounters
from app.core.limits.rules import Cost, Policy, limit_policy, quota_policy, rate_limit_fields, retry_after_s
from app.core.limits.server import CounterServer
from app.core.metrics.counting import count
from app.core.metrics.families import LIMITS_HIT, QUOTAS_HIT
from app.core.pepper import current_pepper
from app.core.purposes import Purpose
from config.limits import LimitName, QuotaName
from config.settings import Settings

SHARED_FROM_SECOND_UNIT = (LimitName.CAPABILITY, LimitName.ADDRESS, LimitName.UNAUTHENTICATED)
"""Limits of many subjects with one request each, which would cost the server a counter for every review."""


class RateLimited(TooManyRequests):
    """A limit of requests is reached; the caller is told which one, and when to come back."""

    code = "rate_limited"

    def __init__(self, policy: Policy, wait_s: int) -> None:
        sentence = (
            f"The limit of {policy.amount} requests per {policy.period} for this {_NOUNS[LimitName(policy.name)]} is "
            f"reached, and nothing was stored. Please wait {wait_s} s, then send the same request again."
        )
        super().__init__(wait_s, sentence)
        self.headers = rate_limit_fields(policy, 0, wait_s)
        self.details = {"limit": policy.name, "retryAfterS": wait_s}


class QuotaExceeded(Forbidden):
    """The environment has added as much today as its quota allows."""

    code = "quota_exceeded"

    def __init__(self, name: QuotaName, policy: Policy, renewed_at: datetime) -> None:
        super().__init__(
            f"The quota {name} of this environment, {policy.amount} a day, does not allow this, and nothing was "
            f"stored. It is renewed at {renewed_at:%Y-%m-%dT%H:%M:%SZ}; a retry before that is refused as well."
        )
        self.details = {"quota": str(name)}


_NOUNS = {
    LimitName.ADDRESS: "client address",
    LimitName.UNAUTHENTICATED: "client address without a valid credential",
    LimitName.CAPABILITY: "capability",
    LimitName.KEY: "key",
    LimitName.READ_KEY: "read key",
    LimitName.WORKSPACE: "workspace",
}


class QuotaUse:
    """Units of a quota that are in use: the block of a `with` statement returns them when it raises."""

    # A class, since a generator with contextlib costs a request three times as much.
    __slots__ = ("_cost", "_counters")

    def __init__(self, counters: SharedCounters, cost: Cost | None) -> None:
        self._counters, self._cost = counters, cost

    def __enter__(self) -> None:
        """Begin the block; the units are counted already."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._cost is not None:
            self._counters.spend(self._cost._replace(units=-self._cost.units))


class Limiter:
    """The limits and quotas of one process."""

    def __init__(self, settings: Settings, counters: SharedCounters) -> None:
        self.counters = counters
        self._limits = {
            name: limit_policy(name, item, is_first_unit_shared=name not in SHARED_FROM_SECOND_UNIT)
            for name, item in settings.limits.items()
            if item is not None
        }
        self._quotas = {name: quota_policy(name, amount) for name, amount in settings.quotas.items() if amount}

    def count_request(self, *subjects: tuple[LimitName, Hashable]) -> None:
        """Count a request of each subject, or raise `RateLimited`."""
        limits = self._limits
        costs = [Cost(limits[name], subject) for name, subject in subjects if name in limits]
        if costs and (counter := self.counters.spend(*costs)):
            raise self._rate_limited(counter)

    def count_units(self, name: LimitName, subject: Hashable, units: int) -> None:
        """Count units beside those of a request that is counted already, or raise `RateLimited`.

        Never so many that a request could not pass in a window of its own.
        """
        policy = self._limits.get(name)
        units = min(units, policy.amount - 1) if policy else 0
        if policy and units and (counter := self.counters.spend(Cost(policy, subject, units))):
            raise self._rate_limited(counter)

    def require_requests_left(self, name: LimitName, subject: Hashable) -> None:
        """Raise `RateLimited` if a subject has no request left; count nothing."""
        policy = self._limits.get(name)
        if policy and (counter := self.counters.find_exhausted(Cost(policy, subject))):
            raise self._rate_limited(counter)

    def use_quota(self, name: QuotaName, environment_id: uuid.UUID, units: int = 1) -> QuotaUse:
        """Use units of an environment's quota for a block that stores, or raise `QuotaExceeded`."""
        policy = self._quotas.get(name)
        if policy is None:
            return QuotaUse(self.counters, None)
        cost = Cost(policy, environment_id, units)
        if counter := self.counters.spend(cost):
            count(QUOTAS_HIT, name)
            raise QuotaExceeded(name, policy, datetime.fromtimestamp(counter.ends_at, UTC))
        return QuotaUse(self.counters, cost)

    def return_quota(self, name: QuotaName, environment_id: uuid.UUID, units: int = 1) -> None:
        """Return units of a block that has ended without storing as much, such as for a duplicate."""
        policy = self._quotas.get(name)
        if policy and units:
            self.counters.spend(Cost(policy, environment_id, -units))

    def _rate_limited(self, counter: Counter) -> RateLimited:
        count(LIMITS_HIT, counter.policy.name)
        return RateLimited(counter.policy, retry_after_s(counter.ends_at, self.counters.timer()))


def install(app: Flask, settings: Settings) -> None:
    """Give the app its limiter."""
    with app.app_context():
        digest_key = current_pepper().derive(Purpose.RATE_LIMITS)
    server = CounterServer(settings.counters_url, digest_key) if settings.counters_url is not None else None
    app.extensions["limiter"] = Limiter(settings, SharedCounters(server))


def limiter() -> Limiter:
    """Return the limiter of the current app."""
    current: Limiter = current_app.extensions["limiter"]
    return current
