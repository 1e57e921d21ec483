"""Log files as blocks of whole lines, plain or gzip, whatever they hold."""

import gzip
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

BLOCK = 1024 * 1024

LONGEST_LINE = 2 * 1024 * 1024
"""A longer line is passed over without being held in memory."""

HEAD = 65536
LONGEST_HEAD = 8 * 1024 * 1024
"""From so many bytes the format is told: the second number counts where the log begins with an attack."""

GZIP = b"\x1f\x8b"

UNREADABLE = (OSError, EOFError, zlib.error)
"""What reading raises when the disk or the archive is damaged."""


class Block(NamedTuple):
    """Some whole lines."""

    start: int
    """Where the lines begin, in the unpacked text."""
    lines: bytes
    too_long: int = 0
    """Lines before these that were too long."""

    @property
    def end(self) -> int:
        """Return where the next line begins."""
        return self.start + len(self.lines)


class LogFile:
    """An open log."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not stat.S_ISREG(path.stat().st_mode):
            raise io.UnsupportedOperation(f"{path} is no regular file")
        # Without a buffer, which would not notice when a log is emptied and written anew.
        self._raw = path.open("rb", buffering=0)
        try:
            self.is_packed = self._raw.read(len(GZIP)) == GZIP
            self._raw.seek(0)
            self._text: gzip.GzipFile | io.FileIO = gzip.GzipFile(fileobj=self._raw) if self.is_packed else self._raw
            self.inode = os.fstat(self._raw.fileno()).st_ino
            self.head = self.first(HEAD)
        except BaseException:
            self._raw.close()
            raise

    @property
    def size(self) -> int:
        """Return how large the file is now, packed or not."""
        return os.fstat(self._raw.fileno()).st_size

    @property
    def place(self) -> int:
        """Return how much of the size has been read."""
        return self._raw.tell()

    def first(self, most: int) -> bytes:
        """Return the first bytes, as many as there are without damage."""
        self._text.seek(0)
        found = b""
        try:
            while len(found) < most and (more := self._read(most - len(found))):
                found += more
        except UNREADABLE:
            if not found:
                raise
        return found

    def read_head(self) -> bytes:
        """Return the first bytes as they are now."""
        self.head = self.first(HEAD)
        return self.head

    def blocks(self, offset: int) -> Iterator[Block]:
        """Yield the lines from an offset on; in a plain file, a last line that has not ended yet is left for later."""
        self._text.seek(offset)
        return whole_lines(lambda: self._read(BLOCK), offset, is_complete=self.is_packed)

    def close(self) -> None:
        """Close the file."""
        self._text.close()
        self._raw.close()

    def _read(self, most: int) -> bytes:
        # One read at a time: a damaged archive gives what comes before the damage.
        return self._text.read1(most) if isinstance(self._text, gzip.GzipFile) else self._text.read(most)


def whole_lines(read: Callable[[], bytes], offset: int, *, is_complete: bool) -> Iterator[Block]:
    """Cut what is read into blocks of whole lines; the rest after the last one counts only if nothing can follow."""
    rest, start, skipped = b"", offset, 0
    while more := read():
        too_long = 0
        if skipped:
            ended = more.find(b"\n") + 1
            if not ended:
                skipped += len(more)
                continue
            start += skipped + ended
            more, skipped, too_long = more[ended:], 0, 1
        rest += more
        cut = rest.rfind(b"\n") + 1
        if cut or too_long:
            yield Block(start, rest[:cut], too_long)
            start, rest = start + cut, rest[cut:]
        if len(rest) > LONGEST_LINE:
            skipped, rest = len(rest), b""
    if is_complete and (rest or skipped):
        yield Block(start + skipped, rest, 1 if skipped else 0)
