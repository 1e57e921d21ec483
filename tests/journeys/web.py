"""Another web process on the stack's servers, with settings of its own."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.conftest import ROOT
from tests.journeys.stack import Stack, free_port, url_answers, wait_until


@dataclass(frozen=True)
class Web:
    """A running gunicorn with its workers."""

    url: str
    process: "subprocess.Popen[bytes]"

    def parents(self) -> dict[int, int]:
        """Return the parent of each process of this gunicorn, also of a master that has taken over."""
        rows = [process.info for process in psutil.process_iter(["pid", "ppid", "status"])]
        living = {row["pid"]: row["ppid"] for row in rows if row["status"] != psutil.STATUS_ZOMBIE}
        return {pid: parent for pid, parent in living.items() if _group(pid) == self.process.pid}

    def master(self) -> int:
        """Return the id of the master, of the older one where there are two."""
        parents = self.parents()
        masters = (parent for parent in parents.values() if parent in parents and parents[parent] not in parents)
        return next(masters, self.process.pid)

    def workers(self) -> set[int]:
        """Return the ids of the master's workers."""
        parents, master = self.parents(), self.master()
        return {pid for pid, parent in parents.items() if parent == master and pid not in parents.values()}

    def replace_master(self) -> None:
        """Start a new release as an operator does: a new master beside the old one, which ends when that is ready."""
        old = self.master()
        os.kill(old, signal.SIGUSR2)
        wait_until(lambda: any(self.parents().get(parent) == old for parent in self.parents().values()), 30)
        os.kill(old, signal.SIGTERM)
        wait_until(lambda: old not in self.parents(), 30)


def _group(pid: int) -> int:
    with suppress(ProcessLookupError):
        return os.getpgid(pid)
    return 0


@contextmanager
def running_web(stack: Stack, folder: Path = ROOT, **changes: str) -> Iterator[Web]:
    """Run the web process of the Procfile with changed settings, from the folder of a release."""
    port = free_port()
    environ = {**stack.environ, "PORT": str(port), **changes}
    log = stack.log.with_name(f"web-{port}.log")
    with (
        log.open("wb") as output,
        subprocess.Popen(
            stack.commands["web"], env=environ, cwd=folder, stderr=output, start_new_session=True
        ) as process,
    ):
        web = Web(f"http://127.0.0.1:{port}", process)
        try:
            wait_until(lambda: url_answers(web.url + "/healthz"), 30)
            yield web
        finally:
            # At once: no client of a test is worth waiting for.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGQUIT)
