"""How far each log has been sent: one file of this machine, written whole or not at all."""

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
HEAD = 2048
"""By so many first bytes a log is known again."""

FORGET_AFTER = timedelta(days=400)
"""Longer than the service keeps evidence: what is older would not be stored a second time."""


class BadCheckpoint(Exception):
    """A checkpoint that cannot be used; the message says why."""


@dataclass(eq=False)
class Progress:
    """One log, known by its beginning wherever it is moved to."""

    id: str
    path: str
    inode: int
    head_length: int
    head_digest: str
    offset: int
    """All lines before it have been sent, or are not to be."""
    seen_on: str
    text_size: int = 0
    packed_size: int = 0
    """Of a packed log that was read to its end: how long its text is, and the file."""


class Checkpoint:
    """All logs, and the random key that makes the ids of events.

    The key outlives a company key, so that its rotation does not make new ids.
    """

    def __init__(self, path: Path, *, is_kept: bool = True) -> None:
        self._path, self._is_kept = path, is_kept
        self._unsaved = True
        content = self._load()
        try:
            self._key = bytes.fromhex(content["key"]) if content else secrets.token_bytes(32)
            self._logs = [Progress(**entry) for entry in content["logs"]] if content else []
            oldest = (date.today() - FORGET_AFTER).isoformat()  # noqa: DTZ011  (a day more or less does not matter)
            self._logs = [log for log in self._logs if log.seen_on >= oldest]
        except (KeyError, TypeError, ValueError):
            raise BadCheckpoint(f"{path}: this is not a checkpoint of this program") from None
        self._by_name: dict[str | int, list[Progress]] = defaultdict(list)
        for log in self._logs:
            self._index(log)

    @property
    def source_id(self) -> str:
        """Return the opaque name of this exporter."""
        return self._digest(b"source")

    def event_id(self, log: Progress, offset: int) -> str:
        """Return the id of the event at an offset: the same one in every run."""
        return self._digest(f"{log.id}:{offset}".encode())

    def recognise(self, path: Path, inode: int, head: bytes, size: int | None) -> Progress:
        """Return the progress of a log, begun now if it is new; `size` is that of a log that could have shrunk."""
        log = self.find(inode, head, size)
        if log is None:
            log = Progress(secrets.token_hex(16), "", inode, 0, "", 0, "")
            self._logs.append(log)
            self._unsaved = True
        before = (log.path, log.inode, log.head_digest)
        log.path, log.inode, log.seen_on = str(path), inode, date.today().isoformat()  # noqa: DTZ011
        if log.head_length < min(len(head), HEAD):
            log.head_length = min(len(head), HEAD)
            log.head_digest = self._digest(head[:HEAD])
        if before != (log.path, log.inode, log.head_digest):
            self._index(log)
        return log

    def find(self, inode: int, head: bytes, size: int | None) -> Progress | None:
        """Return the youngest log that begins like this: the same file, or a copy that is long enough to tell.

        A short one is not, unless nothing can follow (`size` is None) and it is the whole of what is known.
        """
        longest = min(len(head), HEAD)
        known = {longest: self._digest(head[:longest])}
        for log in (*reversed(self._by_name[inode]), *reversed(self._by_name[known[longest]])):
            length = log.head_length
            if not length or length > len(head):
                continue
            is_whole = size is None and length == len(head)
            if length < HEAD and log.inode != inode and not is_whole:
                continue
            if length not in known:
                known[length] = self._digest(head[:length])
            if known[length] == log.head_digest and (size is None or size >= log.offset):
                return log
        return None

    def of_path(self, path: Path) -> list[Progress]:
        """Return the logs that were seen under a path."""
        return [log for log in dict.fromkeys(self._by_name[str(path)]) if log.path == str(path)]

    def leave(self, log: Progress, path: Path) -> None:
        """Note that a log is no more under a path."""
        if log.path == str(path):
            log.path = ""

    def is_current(self, log: Progress, inode: int, head: bytes, size: int) -> bool:
        """Tell whether an open file is still the log that it was, only longer."""
        beginning = head[: log.head_length]
        return log.inode == inode and size >= log.offset and self._digest(beginning) == log.head_digest

    def advance(self, log: Progress, offset: int) -> None:
        """Note that everything before the offset is dealt with."""
        log.offset = max(log.offset, offset)

    def save_names(self) -> None:
        """Save if there are logs whose ids would be lost with this process."""
        if self._unsaved:
            self.save()

    def save(self) -> None:
        """Write everything, or leave what was there before."""
        if not self._is_kept:
            return
        content = {"version": VERSION, "key": self._key.hex(), "logs": [asdict(log) for log in self._logs]}
        try:
            _replace(self._path, json.dumps(content))
        except OSError as error:
            raise BadCheckpoint(f"{self._path}: cannot be written ({type(error).__name__})") from None
        self._unsaved = False

    def _index(self, log: Progress) -> None:
        # By inode, by beginning and by path; what has changed since is sorted out by whoever looks.
        for name in (log.inode, log.head_digest, log.path):
            self._by_name[name].append(log)

    def _load(self) -> dict[str, Any] | None:
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise BadCheckpoint(f"{self._path}: cannot be read ({type(error).__name__})") from None
        if not isinstance(content, dict) or content.get("version") != VERSION:
            raise BadCheckpoint(f"{self._path}: this is not a checkpoint of version {VERSION}")
        return content

    def _digest(self, content: bytes) -> str:
        return hmac.new(self._key, content, hashlib.sha256).hexdigest()[:32]


def default_path() -> Path:
    """Return where the checkpoint is unless the operator says: systemd's state folder, or the user's."""
    folder = os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    if folder:
        return Path(folder) / "evidence.json"
    home = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(home).expanduser() / "agent-feedback" / "evidence.json"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep a second exporter from using the same checkpoint while the block runs."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = open(f"{path}.lock", "w", opener=lambda name, flags: os.open(name, flags, 0o600))  # noqa: SIM115
    except OSError as error:
        raise BadCheckpoint(f"{path}: its folder cannot be written ({type(error).__name__})") from None
    with lock:
        _lock(lock.fileno(), path)
        yield


def _lock(number: int, path: Path) -> None:
    try:
        import fcntl  # noqa: PLC0415  (not on Windows, where two exporters have to be kept apart by hand)
    except ImportError:
        return
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BadCheckpoint(f"{path}: another exporter is using it") from None


def _replace(path: Path, text: str) -> None:
    # Made with 0600.
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
