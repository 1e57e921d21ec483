"""Reading logs as they grow, across rotation by renaming and by copying."""

import time
from collections.abc import Iterable
from pathlib import Path

from agent_feedback.evidence.once import UNKNOWN_FORMAT, UNREADABLE_LOG, Complain
from agent_feedback.evidence.reading import UNREADABLE, LogFile
from agent_feedback.evidence.tail import Desk, Tail, UnknownFormat, rotated

POLL_S = 0.5
GRACE_S = 10.0
"""So long a server may go on writing to a log that was renamed."""


class Followed:
    """One path and the logs that are, or just were, under it."""

    def __init__(self, desk: Desk, path: Path, complain: Complain) -> None:
        self._desk, self._path, self._complain = desk, path, complain
        self._current: Tail | None = None
        self._leaving: list[tuple[Tail, float]] = []
        self._has_complained = False

    def step(self) -> None:
        """Read what is new."""
        try:
            self._read_leaving()
            if self._current and self._is_replaced(self._current):
                self._leaving.append((self._current, time.monotonic()))
                self._current = None
            if self._current is None:
                self._open()
            if self._current:
                self._read(self._current)
        except UnknownFormat:
            self._complain_once(UNKNOWN_FORMAT)
        except UNREADABLE as error:
            self._complain_once(f"{UNREADABLE_LOG} ({type(error).__name__})")

    def close(self) -> None:
        """Close everything."""
        for tail in [*(tail for tail, _ in self._leaving), *([self._current] if self._current else [])]:
            tail.file.close()

    def _open(self) -> None:
        try:
            file = LogFile(self._path)
        except FileNotFoundError:
            return
        tail = Tail(self._desk, file)
        for former in rotated(self._desk, self._path, file) if not self._leaving else ():
            self._read(former)
        self._current, self._has_complained = tail, False

    def _read(self, tail: Tail) -> None:
        if not tail.is_current():
            tail.start_over()
        elif tail.log is None:
            tail.file.read_head()
        for _ in tail.read():
            pass

    def _read_leaving(self) -> None:
        for entry in list(self._leaving):
            tail, since = entry
            before = tail.position
            self._read(tail)
            now = time.monotonic()
            if tail.position > before:
                self._leaving[self._leaving.index(entry)] = (tail, now)
            elif now - since > GRACE_S:
                self._leaving.remove(entry)
                self._desk.shipper.flush()
                if tail.log:
                    self._desk.checkpoint.leave(tail.log, self._path)
                tail.file.close()

    def _is_replaced(self, tail: Tail) -> bool:
        try:
            return self._path.stat().st_ino != tail.file.inode
        except FileNotFoundError:
            # Between renaming and opening anew there is nothing under the path.
            return False

    def _complain_once(self, text: str) -> None:
        if not self._has_complained:
            self._complain(f"{self._path}: {text}")
            self._has_complained = True


def follow(desk: Desk, paths: Iterable[Path], complain: Complain, flush_s: float) -> None:
    """Send what is written to the logs until `Stopped`; an event waits so many seconds for company."""
    followed = [Followed(desk, path, complain) for path in paths]
    try:
        while True:
            for each in followed:
                each.step()
            if desk.shipper.age > flush_s:
                desk.shipper.flush()
            desk.shipper.rest()
            desk.stop.wait(min(POLL_S, flush_s))
    finally:
        for each in followed:
            each.close()
