"""Forward-confirmed reverse DNS by the system's own resolver, within bounds."""

import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any

from agent_feedback.evidence.ranges import Address

TIMEOUT_S = 3.0
"""For both questions together; a bot's answer takes a fraction."""

LONGEST_QUEUE = 16
"""Questions that the resolver has not answered yet; beyond it nothing more is asked."""

CACHE_SIZE = 50_000
CACHE_S = 3600.0

Resolve = Callable[[str, Sequence[str]], bool]
"""Tells whether an address belongs to a name under one of the domains, and that name to the address."""


def resolve(
    address: str,
    domains: Sequence[str],
    reverse: Callable[[str], Any] = socket.gethostbyaddr,
    forward: Callable[[str, None], Any] = socket.getaddrinfo,
) -> bool:
    """Ask the system's resolver, which knows no time-out; a name that cannot be found is no."""
    try:
        name = reverse(address)[0].rstrip(".").lower()
        # A subdomain: who only ends alike has another owner.
        if not any(name.endswith("." + domain) for domain in domains):
            return False
        return any(ip_address(entry[4][0]) == ip_address(address) for entry in forward(name, None))
    except (OSError, ValueError):  # among the latter, names that are none
        return False


class ReverseDns:
    """Asks about each address once in a while, and never waits long."""

    def __init__(self, resolve: Resolve = resolve, timeout: float = TIMEOUT_S) -> None:
        self._resolve, self._timeout = resolve, timeout
        self._known: OrderedDict[tuple[Address, Sequence[str]], tuple[float, bool]] = OrderedDict()
        self._free = threading.BoundedSemaphore(LONGEST_QUEUE)

    def confirms(self, address: Address, domains: Sequence[str]) -> bool:
        """Tell whether the address is one of the domains'; no answer in time is no."""
        key, now = (address, tuple(domains)), time.monotonic()
        if key in self._known and now - self._known[key][0] < CACHE_S:
            return self._known[key][1]
        verdict = self._ask(str(address), domains)
        self._known[key] = now, verdict
        if len(self._known) > CACHE_SIZE:
            self._known.popitem(last=False)
        return verdict

    def _ask(self, address: str, domains: Sequence[str]) -> bool:
        if not self._free.acquire(blocking=False):
            return False
        verdicts: list[bool] = []

        def ask() -> None:
            try:
                verdicts.append(self._resolve(address, domains))
            finally:
                self._free.release()

        # A daemon, so that a resolver that hangs does not keep the process from ending.
        thread = threading.Thread(target=ask, name="agent-feedback-dns", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads to be had
            self._free.release()
            return False
        thread.join(self._timeout)
        return bool(verdicts and verdicts[0])
