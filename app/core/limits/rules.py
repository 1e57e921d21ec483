"""Policies of limits and quotas: their windows, and how a response tells of them."""

import ipaddress
import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from limits import RateLimitItem, RateLimitItemPerDay

MAX_CACHED_ADDRESSES = 4096


@dataclass(frozen=True, slots=True)
class Policy:
    """So many units for each subject in each window; windows begin at multiples of their length since 1970."""

    name: str
    item: RateLimitItem
    amount: int
    window_s: int
    is_first_unit_shared: bool = True
    """Whether a subject's first unit of a window is shared with other processes, or only from the second one on."""

    def window(self, now: float) -> int:
        """Return the number of the window that an instant, in seconds since 1970, belongs to."""
        return int(now // self.window_s)

    @property
    def period(self) -> str:
        """The length of the window in words: `minute`, `5 minutes`."""
        multiples = self.item.multiples
        return self.item.GRANULARITY.name if multiples == 1 else f"{multiples} {self.item.GRANULARITY.name}s"


class Cost(NamedTuple):
    """Units of a policy that a subject is about to use."""

    policy: Policy
    subject: Hashable
    units: int = 1


def limit_policy(name: str, item: RateLimitItem, *, is_first_unit_shared: bool) -> Policy:
    """Return the policy of a limit of requests."""
    return Policy(name, item, item.amount, item.get_expiry(), is_first_unit_shared)


def quota_policy(name: str, amount: int) -> Policy:
    """Return the policy of a quota, whose window is a UTC day."""
    item = RateLimitItemPerDay(amount)
    return Policy(f"{name}_quota", item, amount, item.get_expiry())


def retry_after_s(window_ends_at: float, now: float) -> int:
    """Return the whole seconds until a window has ended, at least 1."""
    return max(1, math.ceil(window_ends_at - now))


def rate_limit_fields(policy: Policy, remaining: int, reset_s: int) -> dict[str, str]:
    """Return the response fields of draft-ietf-httpapi-ratelimit-headers, and Retry-After."""
    return {
        "Retry-After": str(reset_s),
        "RateLimit-Policy": f'"{policy.name}";q={policy.amount};w={policy.window_s}',
        "RateLimit": f'"{policy.name}";r={remaining};t={reset_s}',
    }


@lru_cache(MAX_CACHED_ADDRESSES)
def address_prefix(address: str) -> str:
    """Return what identifies a client: its IPv4 address, or the /64 network of its IPv6 address."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ip.ipv4_mapped or ipaddress.ip_network((ip.packed, 64), strict=False))
    return str(ip)
