"""Stop calling a service for a while after a failure."""

import time


class CircuitBreaker:
    """Open for some seconds after a failure; then one caller tries the service again while the others wait."""

    def __init__(self, open_s: float) -> None:
        self._open_s = open_s
        self._open_until: float | None = None

    def is_open(self) -> bool:
        """Tell whether the caller must not call; the first caller after the time is up gets False and may try."""
        if self._open_until is None:
            return False
        now = time.monotonic()
        if now < self._open_until:
            return True
        self._open_until = now + self._open_s
        return False

    def open(self, at_least_s: float = 0.0) -> None:
        """Stop the calls from now on, for so many seconds if that is longer than usual."""
        self._open_until = time.monotonic() + max(self._open_s, at_least_s)

    def close(self) -> None:
        """Allow all calls again."""
        self._open_until = None
