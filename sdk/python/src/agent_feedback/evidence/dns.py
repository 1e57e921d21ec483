"""Forward-confirmed reverse DNS with the system's resolver, bounded in time and number."""

import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any

from agent_feedback.evidence.ranges import Address

TIMEOUT_S = 3.0
"""For both look-ups together; those of real bots take a fraction."""

MAX_PENDING_LOOKUPS = 16
"""Look-ups without an answer so far; beyond this number an address counts as unconfirmed."""

CACHE_SIZE = 50_000
CACHE_TTL_S = 3600.0

Confirm = Callable[[str, Sequence[str]], bool]
"""Tells whether an address has a name under one of the domains, and that name the address."""


def confirm(
    address: str,
    domains: Sequence[str],
    reverse: Callable[[str], Any] = socket.gethostbyaddr,
    forward: Callable[[str, None], Any] = socket.getaddrinfo,
) -> bool:
    """Ask the system's resolver, which has no timeout; an address without a name is unconfirmed."""
    try:
        name = reverse(address)[0].rstrip(".").lower()
        # With the dot: notgooglebot.com has another owner.
        if not any(name.endswith("." + domain) for domain in domains):
            return False
        return any(ip_address(entry[4][0]) == ip_address(address) for entry in forward(name, None))
    except (OSError, ValueError):  # ValueError: the resolver refuses some names before it looks them up
        return False


class ReverseDns:
    """Confirms addresses, with a cache and a timeout."""

    def __init__(self, confirm: Confirm = confirm, timeout_s: float = TIMEOUT_S) -> None:
        self._confirm, self._timeout_s = confirm, timeout_s
        self._cache: OrderedDict[tuple[Address, Sequence[str]], tuple[float, bool]] = OrderedDict()
        self._slots = threading.BoundedSemaphore(MAX_PENDING_LOOKUPS)

    def confirms(self, address: Address, domains: Sequence[str]) -> bool:
        """Tell whether the address is confirmed for one of the domains within the timeout."""
        key, now = (address, tuple(domains)), time.monotonic()
        if key in self._cache and now - self._cache[key][0] < CACHE_TTL_S:
            return self._cache[key][1]
        is_confirmed = self._look_up(str(address), domains)
        self._cache[key] = now, is_confirmed
        if len(self._cache) > CACHE_SIZE:
            self._cache.popitem(last=False)
        return is_confirmed

    def _look_up(self, address: str, domains: Sequence[str]) -> bool:
        if not self._slots.acquire(blocking=False):
            return False
        results: list[bool] = []

        def run() -> None:
            try:
                results.append(self._confirm(address, domains))
            finally:
                self._slots.release()

        # A daemon, so that a resolver that hangs does not keep the process from ending.
        thread = threading.Thread(target=run, name="agent-feedback-dns", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no more threads
            self._slots.release()
            return False
        thread.join(self._timeout_s)
        return bool(results and results[0])
