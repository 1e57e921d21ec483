"""Write the output of the processes to a log, and to the terminal where it matters."""

import contextlib
import json
import sys
from typing import TextIO

QUIET_LEVELS = {"debug", "info"}


class Output:
    """Writes everything to a log; shows everything if verbose, and otherwise all but log entries below a warning."""

    def __init__(self, log: TextIO, *, is_verbose: bool, terminal: TextIO = sys.stdout) -> None:
        self._log, self._terminal, self._is_verbose = log, terminal, is_verbose

    def write_process_line(self, name: str, line: str) -> None:
        """Write a line of a process to the log, and to the terminal unless it is routine."""
        text = f"{name:<6} | {line}"
        _write(self._log, text)
        if self._is_verbose or (line and not _is_routine(line)):
            _write(self._terminal, text)

    def say(self, line: str) -> None:
        """Write a line to the terminal only."""
        _write(self._terminal, line)


def _is_routine(line: str) -> bool:
    """Tell whether a line is a log entry below a warning."""
    try:
        entry = json.loads(line)
    except ValueError:
        return False
    return isinstance(entry, dict) and entry.get("level") in QUIET_LEVELS


def _write(file: TextIO, text: str) -> None:
    # The terminal, or the log at the end, may be closed.
    with contextlib.suppress(OSError, ValueError):
        file.write(text + "\n")
        file.flush()
