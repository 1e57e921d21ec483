"""Keep the processes of a Procfile running, and end all of them together."""

import contextlib
import os
import shlex
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from app.cli.dev.server_process import ServerProcess, die_with_parent

GRACE_PERIOD_S = 4.0
"""How long a process may take to end by itself before it is killed; a kill loses nothing."""

RESTART_PAUSE_S = 0.5


class Server(Protocol):
    """An embedded server."""

    process: ServerProcess | None

    def start(self) -> None:
        """Start the server, or start it again after it has ended."""


def read_procfile(path: Path) -> dict[str, list[str]]:
    """Return the commands of a Procfile by name."""
    lines = [line.partition(":") for line in path.read_text().splitlines() if line.strip()]
    return {name.strip(): shlex.split(command) for name, _, command in lines}


class Supervisor:
    """Starts processes, restarts them when they die, and passes each line of their output to `write`.

    `write` is called with the name of the process and the line, from several threads.
    """

    def __init__(self, environment: Mapping[str, str], folder: Path, write: Callable[[str, str], None]) -> None:
        self._environment, self._folder, self._write = environment, folder, write
        self._commands: dict[str, list[str]] = {}
        self.processes: dict[str, subprocess.Popen[str]] = {}
        self.restarts: Counter[str] = Counter()
        """How often each process was restarted."""
        self._lock = threading.RLock()
        self._stop_event = threading.Event()

    def start(self, name: str, command: list[str]) -> None:
        """Start a process under a name."""
        with self._lock:
            self._commands[name] = command
            process = self.processes[name] = self._spawn(command)
        threading.Thread(target=self._forward_output, args=(name, process), daemon=True).start()

    def _spawn(self, command: list[str]) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            command,
            env=self._environment,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=die_with_parent,
        )

    def watch(self, servers: Sequence[Server] = ()) -> None:
        """Restart processes and servers that have ended, until `end` is called."""
        while not self._stop_event.wait(RESTART_PAUSE_S):
            for server in servers:
                if server.process is not None and server.process.poll() is not None:
                    self._write("server", f"{type(server).__name__} ended; starting it again")
                    server.start()
            self.restart_dead()

    def kill(self, name: str) -> None:
        """Kill a process and its children with SIGKILL; `watch` restarts it."""
        process = self.processes[name]
        _signal_group(process, signal.SIGKILL)
        process.wait(GRACE_PERIOD_S)

    def stop(self, name: str) -> None:
        """Kill a process without restarting it."""
        with self._lock:
            process = self.processes.pop(name)
        _signal_group(process, signal.SIGKILL)
        process.wait(GRACE_PERIOD_S)

    def restart_dead(self) -> None:
        """Restart every process that has ended."""
        with self._lock:
            for name, process in list(self.processes.items()):
                if process.poll() is not None and not self._stop_event.is_set():
                    self._write(name, f"ended with {process.returncode}; starting it again")
                    _signal_group(process, signal.SIGKILL)
                    self.restarts[name] += 1
                    self.start(name, self._commands[name])

    def end(self) -> None:
        """End every process: with SIGTERM first, with SIGKILL after the grace period."""
        self._stop_event.set()
        with self._lock:
            processes = list(self.processes.values())
        for process in processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE_PERIOD_S
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
            _signal_group(process, signal.SIGKILL)
            process.wait(2)

    def _forward_output(self, name: str, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                self._write(name, line.rstrip("\n"))


def _signal_group(process: "subprocess.Popen[str]", signal_number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal_number)
