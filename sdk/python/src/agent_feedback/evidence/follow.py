"""Read logs as they grow, across rotation by renaming and by copying."""

import time
from collections.abc import Iterable
from pathlib import Path

from agent_feedback.evidence.log_file import UNREADABLE, LogFile
from agent_feedback.evidence.single_run import UNKNOWN_FORMAT, UNREADABLE_LOG, ReportProblem
from agent_feedback.evidence.tail import ExportContext, Tail, UnknownFormat, find_rotated

POLL_S = 0.5
GRACE_PERIOD_S = 10.0
"""How long a renamed log is still read: its server may go on writing to it."""


class FollowedPath:
    """One path with its current log and its recently rotated logs."""

    def __init__(self, context: ExportContext, path: Path, report_problem: ReportProblem) -> None:
        self._context, self._path, self._report_problem = context, path, report_problem
        self._current: Tail | None = None
        self._rotated: list[tuple[Tail, float]] = []
        self._has_reported = False

    def step(self) -> None:
        """Read the lines that were added."""
        try:
            self._read_rotated()
            if self._current and self._is_replaced(self._current):
                self._rotated.append((self._current, time.monotonic()))
                self._current = None
            if self._current is None:
                self._open()
            if self._current:
                self._read(self._current)
        except UnknownFormat:
            self._report_once(UNKNOWN_FORMAT)
        except UNREADABLE as error:
            self._report_once(f"{UNREADABLE_LOG} ({type(error).__name__})")

    def close(self) -> None:
        """Close all files."""
        for tail in [*(tail for tail, _ in self._rotated), *([self._current] if self._current else [])]:
            tail.file.close()

    def _open(self) -> None:
        try:
            file = LogFile(self._path)
        except FileNotFoundError:
            return
        tail = Tail(self._context, file)
        for rotated_tail in find_rotated(self._context, self._path, file) if not self._rotated else ():
            self._read(rotated_tail)
        self._current, self._has_reported = tail, False

    def _read(self, tail: Tail) -> None:
        if not tail.is_current():
            tail.start_over()
        elif tail.log is None:
            tail.file.read_head()
        for _ in tail.read():
            pass

    def _read_rotated(self) -> None:
        for entry in list(self._rotated):
            tail, last_growth_at = entry
            position = tail.position
            self._read(tail)
            now = time.monotonic()
            if tail.position > position:
                self._rotated[self._rotated.index(entry)] = (tail, now)
            elif now - last_growth_at > GRACE_PERIOD_S:
                self._rotated.remove(entry)
                self._context.shipper.flush()
                if tail.log:
                    self._context.checkpoint.clear_path(tail.log, self._path)
                tail.file.close()

    def _is_replaced(self, tail: Tail) -> bool:
        try:
            return self._path.stat().st_ino != tail.file.inode
        except FileNotFoundError:
            # Rotation has renamed the log, and the server has not yet opened the next one.
            return False

    def _report_once(self, text: str) -> None:
        if not self._has_reported:
            self._report_problem(f"{self._path}: {text}")
            self._has_reported = True


def follow(context: ExportContext, paths: Iterable[Path], report_problem: ReportProblem, flush_s: float) -> None:
    """Send what is written to the logs until `Stopped`; an event waits at most `flush_s` seconds for a full batch."""
    followed_paths = [FollowedPath(context, path, report_problem) for path in paths]
    try:
        while True:
            for followed_path in followed_paths:
                followed_path.step()
            if context.shipper.oldest_event_age_s > flush_s:
                context.shipper.flush()
            context.shipper.save_if_idle()
            context.stop.wait(min(POLL_S, flush_s))
    finally:
        for followed_path in followed_paths:
            followed_path.close()
