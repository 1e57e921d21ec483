"""Finds the end of an HTTP request in the bytes that have arrived, so that only whole requests occupy a thread.

Nothing is validated here: gunicorn's parser is given the bytes and decides. Where the end cannot be told, the parser is
given what there is and rejects it.
"""

import re
from typing import NamedTuple

from gunicorn.http import errors

from config.body_limits import AGENT_BODY_BYTES, body_limit

MAX_HEAD_BYTES = 64 * 1024
MAX_REQUEST_LINE_BYTES = 8192
"""Beyond gunicorn's own limit for the request line, so that the parser rejects it."""

MAX_LENGTH_DIGITS = 15
MAX_CHUNK_LINE_BYTES = 8192
MAX_CHUNK_OVERHEAD = 8
"""The bytes of a chunked body with its framing, in multiples of the largest body: chunks of one byte take six."""

_HEAD_END = b"\r\n\r\n"
_FIELDS = re.compile(rb"\r\n(content-length|transfer-encoding|expect):([^\r\n]*)", re.IGNORECASE)
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,12}\Z")


class Extent(NamedTuple):
    """How many of the buffered bytes the parser is given, and whether they are a whole request."""

    length: int
    is_whole: bool


class RequestBuffer:
    """The bytes that a connection has received and no thread has been given yet."""

    def __init__(self) -> None:
        # Mostly a request arrives in one piece, which is then never copied.
        self._content: bytes | bytearray = b""
        self._framing: _Fixed | _Chunked | None = None
        self.expects_continue = False
        """Whether the client waits for `100 Continue` before it sends the body."""

    def __len__(self) -> int:
        return len(self._content)

    def append(self, received: bytes) -> None:
        """Add bytes from the socket."""
        if not self._content:
            self._content = received
        else:
            if isinstance(self._content, bytes):
                self._content = bytearray(self._content)
            self._content += received

    def is_blank(self) -> bool:
        """Tell whether nothing has been received but the empty line that may follow a request."""
        return len(self._content) <= 2 and not self._content.strip()

    def find_extent(self) -> Extent | None:
        """Return what the parser can be given; None while bytes are missing.

        Raises gunicorn's `LimitRequestHeaders` for a head that is too large.
        """
        if self._framing is None:
            end = self._content.find(_HEAD_END)
            if end < 0:
                return self._check_unfinished_head()
            head = bytes(self._content[: end + len(_HEAD_END)])
            fields = _FIELDS.findall(head)
            self._framing = _find_framing(head, fields)
            self.expects_continue = any(name.lower() == b"expect" for name, _ in fields)
        return self._framing.find_extent(self._content)

    def take(self, length: int) -> bytes:
        """Remove the bytes of one request and return them."""
        request = bytes(self._content[:length])
        self._content = self._content[length:]
        self._framing = None
        self.expects_continue = False
        return request

    def _check_unfinished_head(self) -> Extent | None:
        content = self._content
        is_long_line = len(content) > MAX_REQUEST_LINE_BYTES and b"\r\n" not in content
        # The parser rejects both. A head whose lines do not end with CRLF would never end.
        if is_long_line or content.count(b"\n") != content.count(b"\r\n"):
            return Extent(len(content), is_whole=False)
        if len(content) > MAX_HEAD_BYTES:
            raise errors.LimitRequestHeaders("head too large")
        return None


class _Fixed:
    """A body of known length, or none; `length` None if the parser is to decide by what has arrived."""

    def __init__(self, length: int | None) -> None:
        self._length = length

    def find_extent(self, content: bytes | bytearray) -> Extent | None:
        if self._length is None:
            return Extent(len(content), is_whole=False)
        return Extent(self._length, is_whole=True) if len(content) >= self._length else None


class _Chunked:
    """A chunked body: each chunk is passed over by its size."""

    def __init__(self, start: int, max_bytes: int) -> None:
        self._position = start
        self._body_bytes = 0
        self._max_body_bytes = max_bytes
        self._max_bytes = start + max_bytes * MAX_CHUNK_OVERHEAD

    def find_extent(self, content: bytes | bytearray) -> Extent | None:
        missing = Extent(len(content), is_whole=False) if len(content) > self._max_bytes else None
        undecidable = Extent(len(content), is_whole=False)
        while True:
            line_end = content.find(b"\r\n", self._position)
            if line_end < 0:
                is_long = len(content) - self._position > MAX_CHUNK_LINE_BYTES
                return undecidable if is_long else missing
            size = _read_chunk_size(content, self._position, line_end)
            if size is None:
                return undecidable
            if size == 0:
                return self._find_trailer_end(content, line_end)
            # The app reads one byte more than it takes, and says that the body is too large.
            if self._body_bytes + min(size, len(content) - line_end - 2) > self._max_body_bytes:
                return undecidable
            following = line_end + 2 + size + 2
            if following > len(content):
                return missing
            self._position = following
            self._body_bytes += size

    def _find_trailer_end(self, content: bytes | bytearray, line_end: int) -> Extent | None:
        if content.startswith(b"\r\n", line_end + 2):
            return Extent(line_end + 4, is_whole=True)
        end = content.find(_HEAD_END, line_end)
        if end >= 0:
            return Extent(end + len(_HEAD_END), is_whole=True)
        return Extent(len(content), is_whole=False) if len(content) - line_end > MAX_HEAD_BYTES else None


def _read_chunk_size(content: bytes | bytearray, start: int, end: int) -> int | None:
    digits = bytes(content[start:end]).partition(b";")[0].rstrip(b" \t")
    return int(digits, 16) if _CHUNK_SIZE.match(digits) else None


def _find_framing(head: bytes, fields: list[tuple[bytes, bytes]]) -> _Fixed | _Chunked:
    """Return how the body after a head is framed, by the fields of the head that say so."""
    if not fields:
        return _Fixed(len(head))
    values: dict[bytes, list[bytes]] = {b"content-length": [], b"transfer-encoding": [], b"expect": []}
    for name, value in fields:
        values[name.lower()].append(value.strip(b" \t"))
    lengths, codings, expectations = values.values()
    if any(expectation.lower() != b"100-continue" for expectation in expectations):
        return _Fixed(None)
    if codings:
        is_chunked = len(codings) == 1 and codings[0].lower().rpartition(b",")[2].strip(b" \t") == b"chunked"
        return _Chunked(len(head), _limit(head)) if is_chunked and not lengths else _Fixed(None)
    if not lengths:
        return _Fixed(len(head))
    if len(lengths) > 1 or not lengths[0].isdigit() or len(lengths[0]) > MAX_LENGTH_DIGITS:
        return _Fixed(None)
    # A body that is too large is not awaited: the app says so by its announced length.
    length = int(lengths[0])
    return _Fixed(len(head) + length if length <= AGENT_BODY_BYTES or length <= _limit(head) else None)


def _limit(head: bytes) -> int:
    target = head.lstrip(b"\r\n").split(b" ", 2)[1:2]
    return body_limit(target[0].partition(b"?")[0].decode("latin-1") if target else "")
