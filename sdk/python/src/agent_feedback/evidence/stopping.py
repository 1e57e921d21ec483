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
        for number in SIGNALS:
            signal.signal(number, self._note)

    def check(self) -> None:
        """Raise `Stopped` after a signal."""
        if self.signal is not None:
            raise Stopped

    def wait(self, seconds: float) -> None:
        """Sleep, or raise `Stopped` as soon as there is a signal."""
        self.check()
        # A pipe, since nothing with a lock may be touched where a signal is noted.
        select.select([self._woken], [], [], seconds)
        self.check()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        os.write(self._wake, b"!")
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
