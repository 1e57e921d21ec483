"""The files in which web processes count, and the port on which one of them is asked for the sum.

A process counts in files of its slot, a number that it has alone while it lives and that a later process takes over.
So a count outlives its process, and there are never more files than there have been processes at once.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which prometheus_client is told where the files are."""

PREFIX = "agent-feedback-metrics-"
LOCK = "lock"
"""The file that a master and its workers have locked while they live, whatever process ids mean to others."""

MASTER_SLOT = 0

_used_slots: set[int] = set()
_own_slot = MASTER_SLOT
_lock: int | None = None
"""The descriptor of this master's lock, which its workers inherit."""


def is_open(environ: Mapping[str, str]) -> bool:
    """Tell whether anybody may read the metrics, so that something has to be counted."""
    return bool(environ.get("AGENT_FEEDBACK_METRICS_PORT") or environ.get("AGENT_FEEDBACK_METRICS_TOKEN"))


def list_binds(environ: Mapping[str, str]) -> list[str]:
    """Return the address of the port of metrics, if there is one; a bad port is an error of the settings."""
    port = environ.get("AGENT_FEEDBACK_METRICS_PORT", "")
    return [f"{environ.get('AGENT_FEEDBACK_METRICS_HOST') or '127.0.0.1'}:{port}"] if port.isdecimal() else []


def prepare_folder(parent: str | None) -> None:
    """Make the folder of this master's workers, once, and remove those that killed masters have left."""
    global _lock  # noqa: PLW0603  # the configuration is read again with every reload, by the same process
    if _lock is not None:
        return
    base = Path(parent or tempfile.gettempdir())
    for folder in base.glob(f"{PREFIX}*"):
        if not _is_in_use(folder):
            shutil.rmtree(folder, ignore_errors=True)
    os.environ[FOLDER] = tempfile.mkdtemp(prefix=PREFIX, dir=base)
    _lock = os.open(f"{os.environ[FOLDER]}/{LOCK}", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(_lock, fcntl.LOCK_EX)


def remove_folder(_server: Any) -> None:
    """Remove the folder when the master ends."""
    shutil.rmtree(os.environ[FOLDER], ignore_errors=True)


def give_slot(_server: Any, worker: Any) -> None:
    """Give a worker that is about to be forked the lowest slot that is free."""
    slot = min(set(range(MASTER_SLOT + 1, len(_used_slots) + 2 + MASTER_SLOT)) - _used_slots)
    _used_slots.add(slot)
    worker.metrics_slot = slot


def take_slot(_server: Any, worker: Any) -> None:
    """Remember in a forked worker which slot is its own."""
    global _own_slot  # noqa: PLW0603  # a process has one slot, as it has one process id
    _own_slot = worker.metrics_slot


def free_slot(_server: Any, worker: Any) -> None:
    """Free the slot of a worker that has ended: its counts stay, and what it only held at the moment goes."""
    for path in Path(os.environ[FOLDER]).glob(f"gauge_live*_{worker.metrics_slot}.db"):
        with suppress(FileNotFoundError):
            path.unlink()
    _used_slots.discard(worker.metrics_slot)


def files_folder() -> str | None:
    """Return the folder of the files; None outside of gunicorn."""
    return os.environ.get(FOLDER)


def own_slot() -> int:
    """Return the slot of this process."""
    return _own_slot


def _is_in_use(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        # It belongs to another user, or is being made.
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
