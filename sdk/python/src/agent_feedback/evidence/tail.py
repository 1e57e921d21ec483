"""Read one log up to its present end, and find the rotated logs beside it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from agent_feedback.evidence.checkpoint import Checkpoint, LogProgress
from agent_feedback.evidence.exporter import Exporter, LogReader
from agent_feedback.evidence.log_file import HEAD_BYTES, MAX_HEAD_BYTES, UNREADABLE, LogFile
from agent_feedback.evidence.shipper import Shipper
from agent_feedback.evidence.stop_signal import StopSignal


class UnknownFormat(Exception):
    """No line at the beginning of a log is in a known format."""


class ExportContext:
    """The objects that every log shares."""

    def __init__(self, exporter: Exporter, shipper: Shipper, checkpoint: Checkpoint, stop: StopSignal) -> None:
        self.exporter, self.shipper, self.checkpoint, self.stop = exporter, shipper, checkpoint, stop


class Tail:
    """A log, read up to `position`; the service has everything before the offset of its progress."""

    def __init__(self, context: ExportContext, file: LogFile) -> None:
        self._context, self.file = context, file
        self.reader: LogReader | None = None
        self.log: LogProgress | None = None
        self.position = 0

    def read(self) -> Iterator[None]:
        """Pass all complete lines to the shipper, yielding after each block."""
        if not self._recognise():
            return
        assert self.log
        assert self.reader
        if self.file.is_compressed and (self.log.text_size, self.log.packed_size) == (self.position, self.file.size):
            # It was read to its end before; reading it again would decompress all of it.
            return
        context = self._context
        for block in self.file.blocks(self.position):
            context.stop.check()
            for offset, event in context.exporter.events(self.reader, block):
                context.shipper.add(self.reader.source, self.log, offset, event)
            self.position = block.end
            context.shipper.record_offset(self.log, block.end)
            context.shipper.save_if_idle()
            yield
        if self.file.is_compressed:
            self.log.text_size, self.log.packed_size = self.position, self.file.size

    def is_current(self) -> bool:
        """Tell whether the open file still begins with what has been read."""
        if self.log is None or self.file.is_compressed:
            return True
        size = self.file.size
        head = self.file.read_head()
        return size >= self.position and self._context.checkpoint.is_current(self.log, self.file.inode, head, size)

    def start_over(self) -> None:
        """Treat the file as a new log, since it was truncated."""
        self.log, self.reader, self.position = None, None, 0
        self.file.read_head()

    def _detect_format(self) -> bool:
        """Set the reader by the log's first lines; return False while it has no line."""
        for max_bytes in (HEAD_BYTES, MAX_HEAD_BYTES):
            head = self.file.read_start(max_bytes)
            has_line = b"\n" in head or self.file.is_compressed
            self.reader = self._context.exporter.make_reader(head) if has_line else None
            if self.reader:
                return True
        if has_line:
            raise UnknownFormat
        return False

    def _recognise(self) -> bool:
        """Find the log in the checkpoint as soon as it has a line; return whether it has."""
        if self.log is not None:
            return True
        head = self.file.head
        if not head or not self._detect_format():
            return False
        size = None if self.file.is_compressed else self.file.size
        self.log = self._context.checkpoint.recognise(self.file.path, self.file.inode, head, size)
        self.position = self.log.offset
        return True


def find_rotated(context: ExportContext, path: Path, current: LogFile) -> Iterator[Tail]:
    """Yield the logs that had this path before and lie beside it now; afterwards the checkpoint clears their path."""
    size = None if current.is_compressed else current.size
    current_log = context.checkpoint.find(current.inode, current.head, size)
    previous_logs = [log for log in context.checkpoint.of_path(path) if log is not current_log]
    if not previous_logs:
        return
    for sibling in _siblings(path, {log.inode for log in previous_logs}):
        with suppress(*UNREADABLE):
            file = LogFile(sibling)
            size = None if file.is_compressed else file.size
            if file.inode != current.inode and context.checkpoint.find(file.inode, file.head, size) in previous_logs:
                yield Tail(context, file)
            file.close()
    # Only after what was read has been sent.
    context.shipper.flush()
    for log in previous_logs:
        context.checkpoint.clear_path(log, path)


def _siblings(path: Path, inodes: set[int]) -> list[Path]:
    """Return the files that rotation may have made of a log: renamed, or copied and perhaps compressed."""
    with os.scandir(path.parent) as entries:
        names = [
            entry.name
            for entry in entries
            if entry.is_file()
            and entry.name != path.name
            and (entry.inode() in inodes or entry.name.startswith(path.name))
        ]
    return [path.parent / name for name in sorted(names)]
