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

START_TIMEOUT_S = 120
"""A machine may be busy with the clients of a test, and with other tests."""


@dataclass(frozen=True)
class Web:
    """A running gunicorn with its workers."""

    url: str
    process: "subprocess.Popen[bytes]"

    def parents(self) -> dict[int, int]:
        """Return the parent of each process of this gunicorn, also of a master that has taken over."""
        parents = {}
        for pid in psutil.pids():
            with suppress(ProcessLookupError, psutil.NoSuchProcess):
                if os.getpgid(pid) == self.process.pid and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                    parents[pid] = psutil.Process(pid).ppid()
        return parents

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
        wait_until(lambda: self._has_second_master(old), START_TIMEOUT_S)
        os.kill(old, signal.SIGTERM)
        wait_until(lambda: old not in self.parents(), START_TIMEOUT_S)

    def _has_second_master(self, old: int) -> bool:
        """Tell whether another master has started its workers."""
        parents = self.parents()
        return any(parents.get(parent) == old for parent in parents.values())


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
            wait_until(lambda: url_answers(web.url + "/healthz"), START_TIMEOUT_S)
            yield web
        finally:
            # At once: gunicorn would wait ten seconds for a worker with a connection that a test has left open.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
