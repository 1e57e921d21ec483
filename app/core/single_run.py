"""Run a job at most once at a time in a process."""

import threading
from collections.abc import Callable


class SingleRun:
    """Calls a function, unless another thread is calling it: that one calls it once more when it has ended.

    A job that waits for the servers of others occupies one thread of a worker in this way, and no call is lost.
    """

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function
        self._lock = threading.Lock()
        self._is_requested = threading.Event()

    def __call__(self) -> None:
        """Call the function, now or by the thread that is calling it."""
        self._is_requested.set()
        # Looked at again after each release, for a request that came just before it.
        while self._is_requested.is_set() and self._lock.acquire(blocking=False):
            try:
                self._is_requested.clear()
                self._function()
            finally:
                self._lock.release()
