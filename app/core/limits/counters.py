"""Counters of a process, shared with those of other processes a few times a second.

A request is counted in the memory of its process. A thread adds what was counted to the counters on the server, many
in one round trip, and learns the totals of all processes. So a request waits for the server only where it would be
refused, and a refusal rests on what the server has said: while it is away nothing is refused. Several processes may
together exceed a limit by what they accept within `SHARE_INTERVAL_S`.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Hashable, Sequence

from app.core.limits.rules import Cost, Policy
from app.core.limits.server import TIMEOUT_S, Addition, CounterServer

SHARE_INTERVAL_S = 0.2
RETRY_AFTER_FAILURE_S = 1.0
"""How long a server that did not answer is not asked again."""

MAX_COUNTERS = 50_000
"""Of a process; beyond, the oldest counters are forgotten, which allows their subjects more."""

BATCH_SIZE = 1_000
"""Counters of one round trip."""

logger = logging.getLogger(__name__)


class Counter:
    """The units of one subject in one window."""

    __slots__ = ("confirmed", "count", "ends_at", "is_queued", "policy", "subject", "unshared", "window")

    def __init__(self, policy: Policy, subject: Hashable, now: float) -> None:
        self.policy, self.subject = policy, subject
        self.window = policy.window(now)
        self.ends_at = (self.window + 1) * policy.window_s
        self.count = 0
        """The total as far as this process knows it."""
        self.confirmed = 0
        """The total that the server has told."""
        self.unshared = 0
        """What was counted here and not yet added on the server."""
        self.is_queued = False

    def addition(self) -> Addition:
        """Return what is to be added on the server."""
        policy = self.policy
        key = policy.item.key_for(policy.name, str(self.subject), self.window)
        return Addition(key, policy.window_s, self.unshared)


class SharedCounters:
    """The counters of one process; without a server they are its own alone, and a refusal rests on them."""

    def __init__(self, server: CounterServer | None, timer: Callable[[], float] = time.time) -> None:
        self._server, self.timer = server, timer
        self._counters: dict[tuple[str, Hashable], Counter] = {}
        self._queue: list[Counter] = []
        self._lock = threading.Lock()
        self._condition = threading.Condition(self._lock)
        self._exchange_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._paused_until = 0.0
        self._is_server_away = False

    def spend(self, *costs: Cost) -> Counter | None:
        """Count units, or return the counter that has too few left, and then count nothing."""
        now = self.timer()
        is_allowed = True
        additions: list[tuple[Counter, int]] = []
        with self._lock:
            for policy, subject, units in costs:
                counter = self._counters.get((policy.name, subject))
                if counter is None or counter.ends_at <= now:
                    counter = self._create(policy, subject, now)
                additions.append((counter, units))
                is_allowed = is_allowed and counter.count + units <= policy.amount
            if is_allowed:
                self._add(additions)
                return None
        for counter, units in additions:
            if self._is_exhausted(counter, units):
                return counter
        with self._lock:
            self._add(additions)
        return None

    def find_exhausted(self, cost: Cost) -> Counter | None:
        """Return the counter of a cost if it has too few units left; count nothing."""
        with self._lock:
            counter = self._counters.get((cost.policy.name, cost.subject))
        if counter is None or counter.ends_at <= self.timer():
            return None
        return counter if self._is_exhausted(counter, cost.units) else None

    def share(self) -> None:
        """Add to the server now what was counted since the last time."""
        while True:
            with self._lock:
                batch, self._queue = self._queue[:BATCH_SIZE], self._queue[BATCH_SIZE:]
                for counter in batch:
                    counter.is_queued = False
            if not batch:
                return
            now = self.timer()
            self._exchange([counter for counter in batch if counter.ends_at > now])

    def clear(self) -> None:
        """Forget every counter of this process."""
        with self._lock:
            self._counters.clear()
            self._queue.clear()
        self._paused_until = 0.0

    def _create(self, policy: Policy, subject: Hashable, now: float) -> Counter:
        """Return a new counter of the current window, in place of the oldest where there are many. Needs the lock."""
        if len(self._counters) >= MAX_COUNTERS:
            del self._counters[next(iter(self._counters))]
        counter = self._counters[policy.name, subject] = Counter(policy, subject, now)
        return counter

    def _add(self, additions: Sequence[tuple[Counter, int]]) -> None:
        """Count, and queue what is to be shared. Needs the lock."""
        for counter, units in additions:
            counter.count += units
            counter.unshared += units
            if self._server and not counter.is_queued and (counter.count > 1 or counter.policy.is_first_unit_shared):
                counter.is_queued = True
                self._queue.append(counter)
                self._wake_thread()

    def _is_exhausted(self, counter: Counter, units: int) -> bool:
        """Tell whether the server says that a counter has too few units left; it is asked unless it has said so."""
        amount = counter.policy.amount
        if self._server is None:
            return counter.count + units > amount
        if counter.count + units <= amount or time.monotonic() < self._paused_until:
            return False
        if counter.confirmed + units > amount:
            return True
        return self._exchange([counter]) and counter.confirmed + units > amount

    def _exchange(self, counters: Sequence[Counter]) -> bool:
        """Add to counters on the server and read their totals; return False if it is away.

        What was sent without an answer is not sent again: it may have been counted.
        """
        if not self._exchange_lock.acquire(timeout=TIMEOUT_S):
            return False
        try:
            assert self._server is not None
            with self._lock:
                additions = [counter.addition() for counter in counters]
                for counter in counters:
                    counter.unshared = 0
            totals = self._server.add(additions)
        except Exception as error:  # whatever the client raises, no request may fail of it
            self._paused_until = time.monotonic() + RETRY_AFTER_FAILURE_S
            self._report(is_away=True, error=type(error).__name__)
            return False
        finally:
            self._exchange_lock.release()
        with self._lock:
            for counter, total in zip(counters, totals, strict=True):
                counter.confirmed = total
                counter.count = total + counter.unshared
        self._report(is_away=False)
        return True

    def _report(self, *, is_away: bool, error: str = "") -> None:
        if is_away and not self._is_server_away:
            logger.warning("limits are not shared: the server cannot be reached", extra={"error": error})
        elif self._is_server_away and not is_away:
            logger.info("limits are shared again")
        self._is_server_away = is_away

    def _wake_thread(self) -> None:
        """Wake the thread that shares, started on first use so that a forked process has its own. Needs the lock."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="limits", daemon=True)
            # Where the system has no more threads, the next count tries again.
            with contextlib.suppress(RuntimeError):
                self._thread.start()
        self._condition.notify()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._queue)
            pause.wait(max(SHARE_INTERVAL_S, self._paused_until - time.monotonic()))
            self.share()
