"""Keeps the processes of a Procfile running, and ends all of them together."""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from app.cli.dev.servers import die_with_parent

GRACE_S = 4.0
"""How long a process may take to end by itself. Nothing is lost by ending it the hard way after that."""

RESTART_PAUSE_S = 0.5


class Server(Protocol):
    """An embedded server."""

    process: "subprocess.Popen[bytes] | None"

    def start(self) -> None:
        """Start it, also where one has died."""


def read_procfile(path: Path) -> dict[str, list[str]]:
    """Return the commands of a Procfile by name."""
    lines = [line.partition(":") for line in path.read_text().splitlines() if line.strip()]
    return {name.strip(): shlex.split(command) for name, _, command in lines}


class Supervisor:
    """Starts processes, starts them again when they die, and passes their output on."""

    def __init__(self, environment: Mapping[str, str], folder: Path, output: IO[str] = sys.stdout) -> None:
        self._environment, self._folder, self._output = environment, folder, output
        self._commands: dict[str, list[str]] = {}
        self.processes: dict[str, subprocess.Popen[str]] = {}
        self._is_ending = threading.Event()

    def run(self, command: list[str]) -> None:
        """Run a command to its end, or raise `subprocess.CalledProcessError`."""
        subprocess.run(command, env=self._environment, cwd=self._folder, check=True, timeout=600)

    def start(self, name: str, command: list[str]) -> None:
        """Start a process under a name."""
        self._commands[name] = command
        process = subprocess.Popen(
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
        self.processes[name] = process
        threading.Thread(target=self._pass_on, args=(name, process), daemon=True).start()

    def watch(self, servers: Sequence[Server] = ()) -> None:
        """Start again what died, processes and servers, until `end` is called."""
        while not self._is_ending.wait(RESTART_PAUSE_S):
            for server in servers:
                if server.process is not None and server.process.poll() is not None:
                    self._say("server", f"{type(server).__name__} ended; starting it again")
                    server.start()
            self.restart_dead()

    def restart_dead(self) -> None:
        """Start again what died, once."""
        for name, process in list(self.processes.items()):
            if process.poll() is not None and not self._is_ending.is_set():
                self._say(name, f"ended with {process.returncode}; starting it again")
                _signal_group(process, signal.SIGKILL)
                self.start(name, self._commands[name])

    def end(self) -> None:
        """End every process: politely first, the hard way after the grace."""
        self._is_ending.set()
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE_S
        for process in self.processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
            _signal_group(process, signal.SIGKILL)
            process.wait(2)

    def _pass_on(self, name: str, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                self._say(name, line.rstrip("\n"))

    def _say(self, name: str, line: str) -> None:
        # Nobody may be reading any more.
        with contextlib.suppress(OSError, ValueError):
            self._output.write(f"{name:<6} | {line}\n")
            self._output.flush()


def _signal_group(process: "subprocess.Popen[str]", how: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, how)
