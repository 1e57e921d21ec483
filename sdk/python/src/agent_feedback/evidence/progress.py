"""A bar on a terminal, and nothing elsewhere."""

import shutil
import sys
import time
from typing import TextIO

EVERY_S = 0.1
_BAR = 24


class Bar:
    """Shows how much has been read; silent unless its stream is a terminal."""

    def __init__(self, total: int, stream: TextIO = sys.stderr) -> None:
        self._total, self._stream, self._shown_at = max(total, 1), stream, 0.0
        self._is_shown = stream.isatty()

    def show(self, done: int, lines: int, events: int) -> None:
        """Draw the bar anew, at most ten times a second."""
        now = time.monotonic()
        if not self._is_shown or now - self._shown_at < EVERY_S:
            return
        self._shown_at = now
        part = min(done / self._total, 1.0)
        filled = "#" * int(part * _BAR)
        text = f"{part:4.0%} [{filled:<{_BAR}}] {lines:,} lines, {events:,} events"
        self._stream.write("\r" + text[: shutil.get_terminal_size().columns - 1] + "\x1b[K")
        self._stream.flush()

    def clear(self) -> None:
        """Take the bar away."""
        if self._is_shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
