"""Start and stop servers from wheels, each as a child process with its own Unix socket.

The wheels' own managers are left aside: they change the permissions of every parent folder, make a system user, and
cannot live below a path with a space.
"""

import ctypes
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

START_TIMEOUT_S = 30.0

Command = list[str | Path]


class ServerFailed(Exception):
    """A server did not start; the message says why."""


def find_program(package: str, pattern: str) -> Path:
    """Find a program inside an installed wheel, without importing the wheel."""
    spec = importlib.util.find_spec(package)
    programs = sorted(Path((spec.submodule_search_locations or [""])[0]).glob(pattern)) if spec else []
    if not programs:
        raise ServerFailed(f"{package} has no program for this machine; set DATABASE_URL and REDIS_URL instead")
    return programs[0]


_PR_SET_PDEATHSIG = 1
_PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def die_with_parent() -> None:
    """Have the kernel end this process when its supervisor is gone, even if that was killed with SIGKILL.

    Only Linux can; elsewhere a killed supervisor leaves its processes behind.
    """
    if _PRCTL is not None:
        _PRCTL(_PR_SET_PDEATHSIG, signal.SIGTERM)


def socket_folder() -> Path:
    """Make a private folder with a path short enough for a Unix socket."""
    return Path(tempfile.mkdtemp(prefix="agent-feedback-", dir="/tmp"))


class ServerProcess(subprocess.Popen[bytes]):
    """A server whose output goes to a log, but for the lines that `keeps` leaves out."""

    def __init__(self, command: Command, log: Path, keeps: Callable[[bytes], object] = bool) -> None:
        # A group of its own: Ctrl-C reaches the supervisor, which stops things in their order.
        super().__init__(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        self.log = log
        self._keeps = keeps
        self._writer = threading.Thread(target=self._write_log, daemon=True)
        self._writer.start()

    def read_log(self) -> str:
        """Return the end of the log; of a process that has ended, to its last line."""
        if self.poll() is not None:
            self._writer.join(1)
        return self.log.read_text(errors="replace")[-2000:]

    def _write_log(self) -> None:
        assert self.stdout
        with self.stdout as output, self.log.open("ab", buffering=0) as log:
            for line in output:
                if self._keeps(line):
                    log.write(line)


def wait_for_socket(path: Path, process: ServerProcess) -> None:
    """Wait until a server accepts connections, or raise `ServerFailed` with the end of its log."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while not _accepts_connections(path):
        if process.poll() is not None or time.monotonic() > deadline:
            raise ServerFailed(f"{Path(str(process.args[0])).name} did not start:\n{process.read_log()}")  # type: ignore[index]  # every command is a list
        time.sleep(0.02)


def _accepts_connections(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def stop(process: ServerProcess | None, signal_number: signal.Signals) -> None:
    """Stop a server, with SIGKILL after five seconds."""
    if process is None or process.poll() is not None:
        return
    process.send_signal(signal_number)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(5)
