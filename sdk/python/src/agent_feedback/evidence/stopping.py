"""Ending on Ctrl-C or SIGTERM between two steps, so that the checkpoint can be written."""

import os
import select
import signal
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(Exception):
    """The operator wants an end."""


class Stop:
    """Notes the first signal; a second one ends the process as usual."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._woken, self._wake = os.pipe()

    def listen(self) -> None:
        """Take the signals."""
        # Written to by the interpreter itself: our own handler would run too late for a sleep that is just beginning.
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, self._note)

    def check(self) -> None:
        """Raise `Stopped` after a signal."""
        if self.signal is not None:
            raise Stopped

    def wait(self, seconds: float) -> None:
        """Sleep, or raise `Stopped` as soon as there is a signal."""
        self.check()
        select.select([self._woken], [], [], seconds)
        self.check()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
