"""The whole service as real processes, each of which a test may stop, kill and start."""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import psycopg2
from flask import Flask

from app import WORKER_TIMEOUTS, create_app
from app.cli.dev.postgres import EmbeddedPostgres
from app.cli.dev.server_process import socket_folder
from app.cli.dev.supervisor import Supervisor, read_procfile
from app.cli.dev.valkey import EmbeddedValkey
from app.core.database import transaction
from app.products.rules import Mode
from config.settings import Settings
from tests.conftest import ROOT, Servers, environment
from tests.factories import Company, create_company

BIN = Path(sys.executable).parent

FIRST_PORT = 20_000
PORTS_PER_WORKER = 1_000
MAX_WORKERS = 12
"""Together below 32,768, where Linux begins to give ports to clients."""

WAITING_TABLES = ("telemetry_inbox", "promotions", "interaction_changes", "evidence_changes", "ledger_changes")
"""Tables whose rows wait for a job."""


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
    commands: dict[str, list[str]]
    app: Flask
    """An app of the process of the tests, for commands and companies; it serves nothing."""

    @property
    def database_url(self) -> str:
        """The URL of the database for the owner of its tables."""
        return self.environ["AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL"]

    def query(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Ask the database directly, as its owner."""
        with closing(psycopg2.connect(self.database_url)) as connection, connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchall()

    def value(self, statement: str, *parameters: object) -> Any:
        """Ask the database for one value."""
        return self.query(statement, *parameters)[0][0]

    def flask(self, *arguments: str, exit_code: int = 0) -> Any:
        """Run a command of the service, check its exit code, and return what it printed as JSON.

        It runs in the process of the tests: starting another takes most of a second.
        """
        with self.app.app_context():
            result = self.app.test_cli_runner().invoke(args=[*arguments, "--json"], catch_exceptions=False)
        # PostgreSQL may be killed before the next one.
        self.app.extensions["database"].dispose()
        assert result.exit_code == exit_code, result.output
        return json.loads(result.stdout)

    @contextmanager
    def stop_process(self, name: str) -> Iterator[None]:
        """Kill a process with SIGKILL, and start it again after the block."""
        self.supervisor.stop(name)
        try:
            yield
        finally:
            self.supervisor.start(name, self.commands[name])

    def waiting_rows(self) -> dict[str, int]:
        """Return how many rows wait for a job, by table."""
        return {table: self.value(f"SELECT count(*) FROM {table}") for table in WAITING_TABLES}

    def create_company(self, mode: Mode = Mode.NEVER_ASK) -> Company:
        """Create a company that no other test knows."""
        return self.create_companies(mode)[0]

    def create_companies(self, *modes: Mode) -> list[Company]:
        """Create a company for each of these modes."""
        return _companies(self.app, *modes)

    def wait_until_web_answers(self) -> None:
        wait_until(lambda: url_answers(self.url + "/healthz"), 30)


def wait_until(is_true: Callable[[], object], timeout_s: float) -> float:
    """Wait until something holds, and return how long it took in seconds."""
    started_at = time.monotonic()
    while not is_true():
        if time.monotonic() - started_at > timeout_s:
            raise AssertionError(f"not so within {timeout_s} seconds")
        time.sleep(0.05)
    return time.monotonic() - started_at


def free_port() -> int:
    """Return a port that is free, from a range that is the test process's own and that no client is given."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = FIRST_PORT + PORTS_PER_WORKER * (worker % MAX_WORKERS)
    for port in random.sample(range(first, first + PORTS_PER_WORKER), PORTS_PER_WORKER):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise AssertionError("no port is free")


@contextmanager
def running_stack(folder: Path, sweep_interval_s: int = 60, **variables: str) -> Iterator[Stack]:
    """Start everything on servers of its own, supervised as by bin/dev, and end everything.

    `variables` are added to the environment of its processes.
    """
    sockets = socket_folder()
    postgres = EmbeddedPostgres(folder / "postgres", sockets, folder / "postgres.log")
    valkey = EmbeddedValkey(sockets, folder / "valkey.log")
    with ExitStack() as cleanup:
        cleanup.callback(shutil.rmtree, sockets)
        cleanup.callback(postgres.stop)
        postgres.start()
        cleanup.callback(valkey.stop)
        valkey.start()
        log = folder / "processes.log"
        output = cleanup.enter_context(log.open("w"))
        servers = Servers(postgres.url(), valkey.url, has_roles=True)
        environ = _environ(servers, servers.database("journey"), log.parent)
        environ |= {"AGENT_FEEDBACK_SWEEP_INTERVAL_S": str(sweep_interval_s), **variables}
        supervisor = Supervisor(environ, ROOT, lambda name, line: _write(output, name, line))
        commands = read_procfile(ROOT / "Procfile")
        _run(commands.pop("release"), environ)
        url = environ["AGENT_FEEDBACK_PUBLIC_URL"]
        # It serves nothing: the process of the tests must not count, nor send traces.
        app = create_app(Settings.from_env(environ), timeouts=WORKER_TIMEOUTS, serves_http=False)
        cleanup.callback(app.extensions["database"].dispose)
        (company,) = _companies(app, Mode.NEVER_ASK)
        stack = Stack(postgres, valkey, supervisor, environ, url, company, log, commands, app)
        cleanup.callback(supervisor.end)
        for name, command in commands.items():
            supervisor.start(name, command)
        threading.Thread(target=supervisor.watch, daemon=True).start()
        stack.wait_until_web_answers()
        yield stack


def _run(command: list[str], environ: dict[str, str]) -> None:
    result = subprocess.run(command, env=environ, cwd=ROOT, check=False, timeout=60, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def _write(output: TextIO, name: str, line: str) -> None:
    # A process that was killed may still be read from when the log is closed.
    with suppress(ValueError):
        output.write(f"{name:<6} | {line}\n")
        output.flush()


def _environ(servers: Servers, database_url: str, folder: Path) -> dict[str, str]:
    port = free_port()
    return {
        **os.environ,
        **environment(servers, database_url),
        "AGENT_FEEDBACK_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "AGENT_FEEDBACK_HOST": "127.0.0.1",
        "AGENT_FEEDBACK_POOL_SIZE": "4",
        # A test may come from an address of its own, so that being throttled there is nobody else's business.
        "AGENT_FEEDBACK_TRUSTED_PROXIES": "1",
        "AGENT_FEEDBACK_LOG_LEVEL": "INFO",
        "AGENT_FEEDBACK_DATA_DIR": str(folder),
        "WEB_CONCURRENCY": "2",
        "PORT": str(port),
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
    }


def _companies(app: Flask, *modes: Mode) -> list[Company]:
    with app.app_context(), transaction():
        companies = [create_company(mode) for mode in modes]
    app.extensions["database"].dispose()
    return companies


def url_answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except OSError:
        return False
