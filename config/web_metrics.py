"""The files in which web processes count, and the port on which one of them is asked for the sum.

A process counts in files of its slot, a number that it has alone while it lives and that a later process takes over.
So a count outlives its process, and there are never more files than there have been processes at once.
"""

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

MASTER_SLOT = 0

_used_slots: set[int] = set()
_own_slot = MASTER_SLOT


def is_open(environ: Mapping[str, str]) -> bool:
    """Tell whether anybody may read the metrics, so that something has to be counted."""
    return bool(environ.get("AGENT_FEEDBACK_METRICS_PORT") or environ.get("AGENT_FEEDBACK_METRICS_TOKEN"))


def list_binds(environ: Mapping[str, str]) -> list[str]:
    """Return the address of the port of metrics, if there is one; a bad port is an error of the settings."""
    port = environ.get("AGENT_FEEDBACK_METRICS_PORT", "")
    return [f"{environ.get('AGENT_FEEDBACK_METRICS_HOST') or '127.0.0.1'}:{port}"] if port.isdecimal() else []


def prepare_folder(parent: str | None) -> None:
    """Make the folder of this master's workers, once, and remove those that killed masters have left."""
    if os.environ.get(FOLDER, "").rpartition("/")[2].startswith(f"{PREFIX}{os.getpid()}-"):
        return
    base = Path(parent or tempfile.gettempdir())
    for folder in base.glob(f"{PREFIX}*"):
        if not _is_alive(folder.name.removeprefix(PREFIX).partition("-")[0]):
            # Those of another user stay.
            shutil.rmtree(folder, ignore_errors=True)
    os.environ[FOLDER] = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=base)


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


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return True
