"""Read log files, plain or gzip, as blocks of whole lines."""

import gzip
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

BLOCK_BYTES = 1024 * 1024

MAX_LINE_BYTES = 2 * 1024 * 1024
"""A longer line is skipped without being held in memory."""

HEAD_BYTES = 65536
MAX_HEAD_BYTES = 8 * 1024 * 1024
"""How many bytes are searched for the format; the larger number where a log begins with lines of no format."""

GZIP_MAGIC = b"\x1f\x8b"

UNREADABLE = (OSError, EOFError, zlib.error)
"""The exceptions of a damaged disk or archive."""


class Block(NamedTuple):
    """Consecutive whole lines of a log."""

    start: int
    """The offset of the first line in the uncompressed text."""
    lines: bytes
    skipped_line_count: int = 0
    """How many lines before these were skipped."""

    @property
    def end(self) -> int:
        """Return the offset of the next line."""
        return self.start + len(self.lines)


class LogFile:
    """An open log."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not stat.S_ISREG(path.stat().st_mode):
            raise io.UnsupportedOperation(f"{path} is no regular file")
        # Unbuffered: a buffer would hide that a log was truncated and written anew.
        self._raw = path.open("rb", buffering=0)
        try:
            self.is_compressed = self._raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            self._raw.seek(0)
            self._text: gzip.GzipFile | io.FileIO = (
                gzip.GzipFile(fileobj=self._raw) if self.is_compressed else self._raw
            )
            self.inode = os.fstat(self._raw.fileno()).st_ino
            self.head = self.read_start(HEAD_BYTES)
        except BaseException:
            self._raw.close()
            raise

    @property
    def size(self) -> int:
        """Return the present size of the file, compressed or not."""
        return os.fstat(self._raw.fileno()).st_size

    @property
    def bytes_read(self) -> int:
        """Return how many bytes of the size have been read."""
        return self._raw.tell()

    def read_start(self, max_bytes: int) -> bytes:
        """Return the first bytes, up to the end or to a damage of the archive."""
        self._text.seek(0)
        text = b""
        try:
            while len(text) < max_bytes and (chunk := self._read(max_bytes - len(text))):
                text += chunk
        except UNREADABLE:
            if not text:
                raise
        return text

    def read_head(self) -> bytes:
        """Read the first bytes again and return them."""
        self.head = self.read_start(HEAD_BYTES)
        return self.head

    def blocks(self, offset: int) -> Iterator[Block]:
        """Yield the lines from an offset on; a plain file's last line is omitted until it has ended."""
        self._text.seek(offset)
        return whole_lines(lambda: self._read(BLOCK_BYTES), offset, is_complete=self.is_compressed)

    def close(self) -> None:
        """Close the file."""
        self._text.close()
        self._raw.close()

    def _read(self, max_bytes: int) -> bytes:
        # One read at a time: a damaged archive gives what comes before the damage.
        return self._text.read1(max_bytes) if isinstance(self._text, gzip.GzipFile) else self._text.read(max_bytes)


def whole_lines(read: Callable[[], bytes], offset: int, *, is_complete: bool) -> Iterator[Block]:
    """Yield blocks of whole lines; text after the last line break is a line only if the log is complete."""
    remainder, start, skipped_bytes = b"", offset, 0
    while chunk := read():
        skipped_line_count = 0
        if skipped_bytes:
            line_end = chunk.find(b"\n") + 1
            if not line_end:
                skipped_bytes += len(chunk)
                continue
            start += skipped_bytes + line_end
            chunk, skipped_bytes, skipped_line_count = chunk[line_end:], 0, 1
        remainder += chunk
        lines_end = remainder.rfind(b"\n") + 1
        if lines_end or skipped_line_count:
            yield Block(start, remainder[:lines_end], skipped_line_count)
            start, remainder = start + lines_end, remainder[lines_end:]
        if len(remainder) > MAX_LINE_BYTES:
            skipped_bytes, remainder = len(remainder), b""
    if is_complete and (remainder or skipped_bytes):
        yield Block(start + skipped_bytes, remainder, 1 if skipped_bytes else 0)
