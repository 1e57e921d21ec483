"""Leaving a service that failed alone for a while."""

import time


class Pause:
    """Whether to leave it alone for now; when the time is up, one caller finds out for all."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until: float | None = None

    def holds(self) -> bool:
        """Tell whether to leave it alone; while a caller that may go on finds out, the others wait."""
        if self._until is None:
            return False
        now = time.monotonic()
        if now < self._until:
            return True
        self._until = now + self._seconds
        return False

    def begin(self) -> None:
        """Leave it alone from now on."""
        self._until = time.monotonic() + self._seconds

    def end(self) -> None:
        """Go on as usual."""
        self._until = None
