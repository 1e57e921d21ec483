"""One log that is being read, and where the logs went that were there before it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from agent_feedback.evidence.checkpoint import Checkpoint, Progress
from agent_feedback.evidence.exporter import Exporter, Reading
from agent_feedback.evidence.reading import HEAD, LONGEST_HEAD, UNREADABLE, LogFile
from agent_feedback.evidence.shipping import Shipper
from agent_feedback.evidence.stopping import Stop


class UnknownFormat(Exception):
    """No line at the beginning of a log is of a format that is read here."""


class Desk:
    """What every log needs to be read."""

    def __init__(self, exporter: Exporter, shipper: Shipper, checkpoint: Checkpoint, stop: Stop) -> None:
        self.exporter, self.shipper, self.checkpoint, self.stop = exporter, shipper, checkpoint, stop


class Tail:
    """A log, read up to a position; what is before the progress' offset the service has."""

    def __init__(self, desk: Desk, file: LogFile) -> None:
        self._desk, self.file = desk, file
        self.reading: Reading | None = None
        self.log: Progress | None = None
        self.position = 0

    def read(self) -> Iterator[None]:
        """Take all lines that are there, and pause after each block."""
        if not self._is_known():
            return
        assert self.log
        assert self.reading
        if self.file.is_packed and (self.log.text_size, self.log.packed_size) == (self.position, self.file.size):
            # To find out that nothing follows, all of it would have to be unpacked again.
            return
        desk = self._desk
        for block in self.file.blocks(self.position):
            desk.stop.check()
            for offset, event in desk.exporter.events(self.reading, block):
                desk.shipper.add(self.reading.source, self.log, offset, event)
            self.position = block.end
            desk.shipper.reach(self.log, block.end)
            desk.shipper.rest()
            yield
        if self.file.is_packed:
            self.log.text_size, self.log.packed_size = self.position, self.file.size

    def is_current(self) -> bool:
        """Tell whether the open file is still what has been read, only longer."""
        if self.log is None or self.file.is_packed:
            return True
        size = self.file.size
        head = self.file.read_head()
        return size >= self.position and self._desk.checkpoint.is_current(self.log, self.file.inode, head, size)

    def start_over(self) -> None:
        """Take the file as a new log, since it was emptied."""
        self.log, self.reading, self.position = None, None, 0
        self.file.read_head()

    def _has_reading(self) -> bool:
        """Find out how to read the log, unless it has no line yet."""
        for most in (HEAD, LONGEST_HEAD):
            beginning = self.file.first(most)
            has_line = b"\n" in beginning or self.file.is_packed
            self.reading = self._desk.exporter.reading(beginning) if has_line else None
            if self.reading:
                return True
        if has_line:
            raise UnknownFormat
        return False

    def _is_known(self) -> bool:
        """Recognise the log as soon as it has a line; returns whether it has."""
        if self.log is not None:
            return True
        head = self.file.head
        if not head or not self._has_reading():
            return False
        size = None if self.file.is_packed else self.file.size
        self.log = self._desk.checkpoint.recognise(self.file.path, self.file.inode, head, size)
        self.position = self.log.offset
        return True


def rotated(desk: Desk, path: Path, current: LogFile) -> Iterator[Tail]:
    """Yield the logs that were under a path before and lie beside it now; afterwards they are the path's no more."""
    size = None if current.is_packed else current.size
    known = desk.checkpoint.find(current.inode, current.head, size)
    former = [log for log in desk.checkpoint.of_path(path) if log is not known]
    if not former:
        return
    for sibling in _siblings(path, {log.inode for log in former}):
        with suppress(*UNREADABLE):
            file = LogFile(sibling)
            size = None if file.is_packed else file.size
            if file.inode != current.inode and desk.checkpoint.find(file.inode, file.head, size) in former:
                yield Tail(desk, file)
            file.close()
    # Only what has been sent may be forgotten.
    desk.shipper.flush()
    for log in former:
        desk.checkpoint.leave(log, path)


def _siblings(path: Path, inodes: set[int]) -> list[Path]:
    """Return the files that rotation may have made of a log: renamed, or copied and perhaps packed."""
    with os.scandir(path.parent) as entries:
        found = [
            entry.name
            for entry in entries
            if entry.is_file()
            and entry.name != path.name
            and (entry.inode() in inodes or entry.name.startswith(path.name))
        ]
    return [path.parent / name for name in sorted(found)]
