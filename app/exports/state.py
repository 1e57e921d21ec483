"""How far an export is: a file beside its files, which is replaced after each batch that is on the disk."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from app.core.errors import Conflict
from app.exports.files import sync_folder


class ExportConflict(Conflict):
    """The directory has another export, or files of something else."""


@dataclass
class Progress:
    """How far a list is."""

    rows: int = 0
    bytes: int = 0
    """The size of a file of lines; what is behind that belongs to a batch that was interrupted."""
    parts: int = 0
    """The number of complete Parquet files."""
    position: tuple[str, str] | None = None
    """The instant and id of the last exported row."""


@dataclass
class State:
    """Which export of a format a directory has, and how far it is."""

    environment_id: str
    format: str
    since: str | None
    """As it was written on the command line."""
    since_at: str | None
    """The instant that it meant in the first run."""
    lists: dict[str, Progress] = field(default_factory=dict)

    @property
    def file_name(self) -> str:
        """The name of its file; exports in several formats go side by side."""
        return f"export-{self.format}.json"


@contextlib.contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Keep other runs out of a directory, or raise `ExportConflict`; the lock ends with the process."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ExportConflict(f"Another export is writing to {folder}.") from None
        yield
    finally:
        os.close(descriptor)


def open_state(folder: Path, wanted: State) -> State:
    """Return the state of the export of this format in a directory, or begin one; another is an `ExportConflict`."""
    path = folder / wanted.file_name
    if not path.exists():
        names = sorted(entry.name for entry in folder.iterdir() if entry.suffix == f".{wanted.format}")
        if names:
            raise ExportConflict(f"{folder} has {names[0]}, which is of no export that could be continued.")
        save(folder, wanted)
        return wanted
    state = _read(path)
    for name in ("environment_id", "since"):
        if getattr(state, name) != getattr(wanted, name):
            option = "--environment" if name == "environment_id" else f"--{name}"
            was = getattr(state, name)
            raise ExportConflict(
                f"{folder} has an export {f'with {option} {was}' if was else f'without {option}'}; give the same "
                "options to continue it, or another directory."
            )
    return state


def save(folder: Path, state: State) -> None:
    """Replace the state; a crash leaves the old one or the new one."""
    temporary_path = folder / f"{state.file_name}.new"
    descriptor = os.open(temporary_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(asdict(state), file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    temporary_path.replace(folder / state.file_name)
    sync_folder(folder)


def _read(path: Path) -> State:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
        lists = {name: Progress(**progress) for name, progress in content.pop("lists").items()}
        return State(**content, lists=lists)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ExportConflict(f"{path} is no state of an export.") from None
