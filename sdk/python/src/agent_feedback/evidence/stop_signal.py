"""Stop on Ctrl-C or SIGTERM between two steps, so that the checkpoint can be written."""

import os
import select
import signal
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(Exception):
    """A signal has ended the run."""


class StopSignal:
    """Catches the first signal; a second one ends the process as usual."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._wakeup_reader, self._wakeup_writer = os.pipe()

    def listen(self) -> None:
        """Install the signal handlers."""
        # Written to by the interpreter itself: our own handler would run too late for a sleep that is just beginning.
        os.set_blocking(self._wakeup_writer, False)
        signal.set_wakeup_fd(self._wakeup_writer, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, self._catch)

    def check(self) -> None:
        """Raise `Stopped` after a signal."""
        if self.signal is not None:
            raise Stopped

    def wait(self, seconds: float) -> None:
        """Sleep, or raise `Stopped` as soon as there is a signal."""
        self.check()
        select.select([self._wakeup_reader], [], [], seconds)
        self.check()

    def _catch(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        for signal_number in SIGNALS:
            signal.signal(signal_number, signal.SIG_DFL)
