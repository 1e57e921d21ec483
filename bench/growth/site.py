"""One running service with its database, and the processor time of all its processes."""

import json
import os
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg2

from bench.load import Measurement, send
from tests.journeys.stack import Stack, running_stack


@dataclass
class Site:
    """A service whose jobs run in this process, when they are measured; it has no worker and no beat."""

    stack: Stack
    environment_id: uuid.UUID
    cookie: str
    """Of a signed-in user."""
    job_cpu_s: float = 0.0
    """Of this process, in the jobs that it has run."""

    def cpu_s(self) -> float:
        """Return the processor seconds of web, PostgreSQL and the jobs."""
        assert self.stack.postgres.process
        roots = (self.stack.supervisor.processes["web"].pid, self.stack.postgres.process.pid)
        return self.job_cpu_s + sum(map(_tree_cpu_s, roots))

    def execute(self, statement: str, **values: object) -> None:
        """Execute a statement as the tables' owner, without time-outs."""
        with closing(psycopg2.connect(self.stack.database_url)) as connection, connection.cursor() as cursor:
            connection.autocommit = True
            cursor.execute(statement, values or None)

    def checkpoint(self) -> None:
        """Write everything to disk, so that each measurement begins alike."""
        with closing(psycopg2.connect(self.stack.postgres.url())) as connection, connection.cursor() as cursor:
            connection.autocommit = True
            cursor.execute("CHECKPOINT")

    def send(self, requests: Sequence[bytes], status: int, clients: int = 4) -> Measurement:
        """Send requests to the service."""
        return send(self.stack.url, requests, clients, status)

    def run(self, job: Callable[[], object]) -> None:
        """Run a job."""
        started_at = time.process_time()
        with self.stack.app.app_context():
            job()
        self.job_cpu_s += time.process_time() - started_at


@contextmanager
def running_site(folder: Path) -> Iterator[Site]:
    """Start a service of its own in a folder."""
    folder.mkdir()
    with running_stack(folder) as stack:
        for name in ("worker", "beat"):
            stack.supervisor.stop(name)
        yield Site(stack, stack.company.environment_id, _sign_in(stack))


def _sign_in(stack: Stack) -> str:
    """Sign the company's owner in and return the cookie."""
    body = json.dumps({"email": stack.company.email, "password": stack.company.password}).encode()
    headers = {"Content-Type": "application/json"}
    call = urllib.request.Request(stack.url + "/api/session", data=body, headers=headers)
    with urllib.request.urlopen(call, timeout=10) as response:
        cookie: str = response.headers["Set-Cookie"]
    return cookie.partition(";")[0]


def _tree_cpu_s(root: int) -> float:
    """Return the processor seconds of a process and all below it, to the nanosecond; of ended ones nothing."""
    parent = psutil.Process(root)
    pids = [parent.pid, *(child.pid for child in parent.children(recursive=True))]
    return sum(_thread_cpu_s(Path(f"/proc/{pid}/task")) for pid in pids)


def _thread_cpu_s(tasks: Path) -> float:
    total = 0
    try:
        for thread in os.listdir(tasks):
            total += int((tasks / thread / "schedstat").read_text().split()[0])
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return total / 1e9
