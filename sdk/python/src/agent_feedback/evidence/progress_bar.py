"""Show progress on a terminal, and nothing elsewhere."""

import shutil
import sys
import time
from typing import TextIO

REDRAW_INTERVAL_S = 0.1
_WIDTH = 24


class ProgressBar:
    """A bar of how much has been read; silent unless its stream is a terminal."""

    def __init__(self, total: int, stream: TextIO = sys.stderr) -> None:
        self._total, self._stream, self._drawn_at = max(total, 1), stream, 0.0
        self._is_terminal = stream.isatty()

    def show(self, bytes_read: int, lines: int, events: int) -> None:
        """Redraw the bar, at most ten times a second."""
        now = time.monotonic()
        if not self._is_terminal or now - self._drawn_at < REDRAW_INTERVAL_S:
            return
        self._drawn_at = now
        ratio = min(bytes_read / self._total, 1.0)
        filled = "#" * int(ratio * _WIDTH)
        text = f"{ratio:4.0%} [{filled:<{_WIDTH}}] {lines:,} lines, {events:,} events"
        self._stream.write("\r" + text[: shutil.get_terminal_size().columns - 1] + "\x1b[K")
        self._stream.flush()

    def clear(self) -> None:
        """Erase the bar."""
        if self._is_terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
