"""The checkpoint file: how far each log has been sent. It is replaced as a whole."""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

VERSION = 1
HEAD_BYTES = 2048
"""A log is recognised by so many of its first bytes."""

MAX_AGE = timedelta(days=400)
"""Longer than the service retains evidence: it would not store older events a second time."""


class InvalidCheckpoint(Exception):
    """An unusable checkpoint; the message says why."""


@dataclass(eq=False)
class LogProgress:
    """The progress of one log, recognised by its first bytes under whatever name."""

    id: str
    path: str
    inode: int
    head_length: int
    head_digest: str
    offset: int
    """All lines before it have been sent or skipped."""
    seen_on: str
    text_size: int = 0
    packed_size: int = 0
    """Of a compressed log that was read to its end: the sizes of its text and of the file."""


class Checkpoint:
    """The progress of all logs, and the random key from which the ids of events are derived.

    The key does not depend on the company key, so that its rotation does not change the ids.
    """

    def __init__(self, path: Path, *, is_writable: bool = True) -> None:
        self._path, self._is_writable = path, is_writable
        self._has_changes = True
        content = self._load()
        try:
            self._key = bytes.fromhex(content["key"]) if content else secrets.token_bytes(32)
            self._logs = [LogProgress(**entry) for entry in content["logs"]] if content else []
            oldest_day = (date.today() - MAX_AGE).isoformat()  # noqa: DTZ011  # a day more or less does not matter
            self._logs = [log for log in self._logs if log.seen_on >= oldest_day]
        except (KeyError, TypeError, ValueError):
            raise InvalidCheckpoint(f"{path}: this is not a checkpoint of this program") from None
        self._by_name: dict[str | int, list[LogProgress]] = defaultdict(list)
        for log in self._logs:
            self._index(log)

    @property
    def source_id(self) -> str:
        """Return the opaque id of this exporter."""
        return self._digest(b"source")

    def event_id(self, log: LogProgress, offset: int) -> str:
        """Return the id of the event at an offset, the same in every run."""
        return self._digest(f"{log.id}:{offset}".encode())

    def recognise(self, path: Path, inode: int, head: bytes, size: int | None) -> LogProgress:
        """Return the progress of a log, a new one if it is not recognised.

        `size` is None for a compressed log, which cannot be truncated and written anew.
        """
        log = self.find(inode, head, size)
        if log is None:
            log = LogProgress(secrets.token_hex(16), "", inode, 0, "", 0, "")
            self._logs.append(log)
            self._has_changes = True
        names = (log.path, log.inode, log.head_digest)
        log.path, log.inode, log.seen_on = str(path), inode, date.today().isoformat()  # noqa: DTZ011  # as above
        if log.head_length < min(len(head), HEAD_BYTES):
            log.head_length = min(len(head), HEAD_BYTES)
            log.head_digest = self._digest(head[:HEAD_BYTES])
        if names != (log.path, log.inode, log.head_digest):
            self._index(log)
        return log

    def find(self, inode: int, head: bytes, size: int | None) -> LogProgress | None:
        """Return the latest log with this beginning: the same file, or a copy with at least `HEAD_BYTES`.

        A shorter copy is recognised only if it is complete (`size` is None) and as long as the log.
        """
        max_length = min(len(head), HEAD_BYTES)
        digests = {max_length: self._digest(head[:max_length])}
        for log in (*reversed(self._by_name[inode]), *reversed(self._by_name[digests[max_length]])):
            length = log.head_length
            if not length or length > len(head):
                continue
            is_complete = size is None and length == len(head)
            if length < HEAD_BYTES and log.inode != inode and not is_complete:
                continue
            if length not in digests:
                digests[length] = self._digest(head[:length])
            if digests[length] == log.head_digest and (size is None or size >= log.offset):
                return log
        return None

    def of_path(self, path: Path) -> list[LogProgress]:
        """Return the logs that had a path when they were last read."""
        return [log for log in dict.fromkeys(self._by_name[str(path)]) if log.path == str(path)]

    def clear_path(self, log: LogProgress, path: Path) -> None:
        """Record that a log has this path no longer."""
        if log.path == str(path):
            log.path = ""

    def is_current(self, log: LogProgress, inode: int, head: bytes, size: int) -> bool:
        """Tell whether an open file is still this log, grown at most."""
        log_head = head[: log.head_length]
        return log.inode == inode and size >= log.offset and self._digest(log_head) == log.head_digest

    def advance(self, log: LogProgress, offset: int) -> None:
        """Record that all lines before an offset have been sent or skipped."""
        log.offset = max(log.offset, offset)

    def save_identities(self) -> None:
        """Save if the file lacks a log, since the ids of its events depend on the log's random id."""
        if self._has_changes:
            self.save()

    def save(self) -> None:
        """Replace the file as a whole; an error leaves the old one."""
        if not self._is_writable:
            return
        content = {"version": VERSION, "key": self._key.hex(), "logs": [asdict(log) for log in self._logs]}
        try:
            _replace(self._path, json.dumps(content))
        except OSError as error:
            raise InvalidCheckpoint(f"{self._path}: cannot be written ({type(error).__name__})") from None
        self._has_changes = False

    def _index(self, log: LogProgress) -> None:
        # Entries are never removed: whoever looks up compares inode, digest and path again.
        for name in (log.inode, log.head_digest, log.path):
            self._by_name[name].append(log)

    def _load(self) -> dict[str, Any] | None:
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise InvalidCheckpoint(f"{self._path}: cannot be read ({type(error).__name__})") from None
        if not isinstance(content, dict) or content.get("version") != VERSION:
            raise InvalidCheckpoint(f"{self._path}: this is not a checkpoint of version {VERSION}")
        return content

    def _digest(self, content: bytes) -> str:
        return hmac.new(self._key, content, hashlib.sha256).hexdigest()[:32]


def default_path() -> Path:
    """Return the path used without `--checkpoint`: in systemd's state folder, or the user's."""
    folder = os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    if folder:
        return Path(folder) / "evidence.json"
    home = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(home).expanduser() / "agent-feedback" / "evidence.json"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a checkpoint against a second exporter while the block runs."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = open(f"{path}.lock", "w", opener=lambda name, flags: os.open(name, flags, 0o600))  # noqa: SIM115  # the `with` below closes it
    except OSError as error:
        raise InvalidCheckpoint(f"{path}: its folder cannot be written ({type(error).__name__})") from None
    with lock:
        _lock(lock.fileno(), path)
        yield


def _lock(number: int, path: Path) -> None:
    try:
        import fcntl  # noqa: PLC0415  # not on Windows, where two exporters have to be kept apart by hand
    except ImportError:
        return
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InvalidCheckpoint(f"{path}: another exporter is using it") from None


def _replace(path: Path, text: str) -> None:
    # mkstemp creates it with mode 0600.
    number, name = tempfile.mkstemp(prefix=path.name + ".", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
