"""The whole service as real processes, each of which a test may stop, kill and start."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import psycopg2

from app.cli.dev.servers import EmbeddedPostgres, EmbeddedValkey, socket_folder
from app.cli.dev.supervisor import Supervisor, read_procfile
from tests.conftest import ROOT, Servers, environment
from tests.factories import Company

BIN = Path(sys.executable).parent


@dataclass
class Stack:
    """PostgreSQL, Valkey, web, worker and beat, with one company in the database."""

    postgres: EmbeddedPostgres
    valkey: EmbeddedValkey
    supervisor: Supervisor
    environ: dict[str, str]
    url: str
    company: Company
    log: Path
    commands: dict[str, list[str]] = field(default_factory=dict)

    def query(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Ask the database directly."""
        with closing(psycopg2.connect(self.environ["DATABASE_URL"])) as connection, connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchall()

    def value(self, statement: str, *parameters: object) -> Any:
        """Ask the database for one value."""
        return self.query(statement, *parameters)[0][0]

    def flask(self, *arguments: str) -> Any:
        """Run a command of the service and return what it printed as JSON."""
        done = subprocess.run(
            [BIN / "flask", *arguments, "--json"],
            env=self.environ,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return json.loads(done.stdout)

    def kill(self, name: str) -> None:
        """Kill a process and all its children with -9."""
        with suppress(ProcessLookupError):
            os.killpg(self.supervisor.processes[name].pid, signal.SIGKILL)
        self.supervisor.processes[name].wait(5)

    def wait_until_web_answers(self) -> None:
        wait_until(lambda: _answers(self.url + "/healthz"), 30)


def wait_until(is_true: Callable[[], object], timeout_s: float) -> float:
    """Wait until something holds, and return how long it took in seconds."""
    began = time.monotonic()
    while not is_true():
        if time.monotonic() - began > timeout_s:
            raise AssertionError(f"not so within {timeout_s} seconds")
        time.sleep(0.05)
    return time.monotonic() - began


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running_stack(folder: Path) -> Iterator[Stack]:
    """Start everything on servers of its own, and end everything."""
    sockets = socket_folder()
    postgres = EmbeddedPostgres(folder / "postgres", sockets, folder / "postgres.log")
    valkey = EmbeddedValkey(sockets, folder / "valkey.log")
    log = folder / "processes.log"
    with log.open("w") as output:
        supervisor: Supervisor | None = None
        try:
            postgres.start()
            valkey.start()
            supervisor, stack = _start(postgres, valkey, log, output)
            yield stack
        finally:
            if supervisor:
                supervisor.end()
            valkey.stop()
            postgres.stop()


def _start(postgres: EmbeddedPostgres, valkey: EmbeddedValkey, log: Path, output: TextIO) -> tuple[Supervisor, Stack]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    servers = Servers(postgres.url(), valkey.url)
    environ = {
        **os.environ,
        **environment(servers, postgres.create_database("journey")),
        "AGENT_FEEDBACK_PUBLIC_URL": url,
        "AGENT_FEEDBACK_HOST": "127.0.0.1",
        "AGENT_FEEDBACK_POOL_SIZE": "4",
        # A test may come from an address of its own, so that being throttled there is nobody else's business.
        "AGENT_FEEDBACK_TRUSTED_PROXIES": "1",
        "AGENT_FEEDBACK_LOG_LEVEL": "INFO",
        "AGENT_FEEDBACK_DATA_DIR": str(log.parent),
        "WEB_CONCURRENCY": "2",
        "PORT": str(port),
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
    }
    supervisor = Supervisor(environ, ROOT, output)
    commands = read_procfile(ROOT / "Procfile")
    supervisor.run(commands.pop("release"))
    stack = Stack(postgres, valkey, supervisor, environ, url, None, log, commands)  # type: ignore[arg-type]
    stack.company = _found(stack)
    for name, command in commands.items():
        supervisor.start(name, command)
    stack.wait_until_web_answers()
    return supervisor, stack


def _found(stack: Stack) -> Company:
    workspace = stack.flask("workspace", "create", "--email", "owner@example.com", "--name", "Example")
    product = stack.flask("product", "create", "--workspace", workspace["workspaceId"], "--name", "Example")[
        "productId"
    ]
    environment_id = stack.flask("environment", "create", "--product", product, "--name", "production")["environmentId"]
    keys = [
        stack.flask("key", "create", "--environment", environment_id, "--kind", kind)["key"]
        for kind in ("product", "company")
    ]
    login = (workspace["email"], workspace["password"])
    return Company(workspace["workspaceId"], product, environment_id, keys[0], keys[1], *login)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except OSError:
        return False
