"""The programs of a language as processes: products that listen, and agents that read commands."""

import json
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from conformance.languages import Program
from conformance.recorder import Recorder, wait_until
from conformance.wire import Response, send

START_TIMEOUT_S = 30
END_TIMEOUT_S = 30
ANSWER_TIMEOUT_S = 30

PORTS = range(10_000, 20_000)
"""Below those that systems give to clients."""

Route = Mapping[str, Any]


def environment(**variables: str) -> dict[str, str]:
    """Return the environment of a program: this process's, without settings of an SDK, Python of the suite first."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("AGENT_FEEDBACK_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    return {**environ, "PATH": path, **variables}


def reserve_port() -> socket.socket:
    """Return a UDP socket whose TCP port is nobody's, and that of no other product while the socket is open.

    Suites may run beside each other; they must not talk to each other's products.
    """
    for port in random.sample(PORTS, 100):
        reservation = socket.socket(type=socket.SOCK_DGRAM)
        with suppress(OSError):
            reservation.bind(("127.0.0.1", port))
            if not is_open(port):
                return reservation
        reservation.close()
    raise AssertionError("no port is free")


def is_open(port: int) -> bool:
    """Tell whether somebody listens on a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Product:
    """A running product with its recorder."""

    def __init__(
        self,
        program: Program,
        folder: Path,
        routes: Sequence[Route],
        options: Mapping[str, Any],
        environ: Mapping[str, str],
    ) -> None:
        self.recorder = Recorder()
        """Replaced by the one that the product talks to."""
        self.options = dict(options)
        self._reservation = reserve_port()
        self.port: int = self._reservation.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        routes_file = folder / "routes.json"
        routes_file.write_text(json.dumps(list(routes)))
        self._out, self._err = folder / "stdout", folder / "stderr"
        variables = {
            "PORT": str(self.port),
            "CONFORMANCE_OPTIONS": json.dumps(self.options),
            "CONFORMANCE_ROUTES": str(routes_file),
            **environ,
        }
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._process = subprocess.Popen(
                program.command,
                cwd=program.language.folder,
                env=environment(**variables),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @property
    def stderr(self) -> str:
        """What the program has written to standard error so far."""
        return self._err.read_text(errors="replace")

    @property
    def stdout(self) -> str:
        """What the program has written to standard output so far."""
        return self._out.read_text(errors="replace")

    def wait_until_it_listens(self) -> None:
        """Wait until the port is open; a program that ends before is a failure."""

        def listens() -> bool:
            assert self._process.poll() is None, f"the program ended before it listened:\n{self.stderr}"
            return is_open(self.port)

        wait_until(listens, START_TIMEOUT_S, lambda: self.stderr)

    def wait_for_exit(self) -> int:
        """Wait until the program ends, and return its status; fail if it listens instead."""

        def ended() -> bool:
            assert not is_open(self.port), "the program listens"
            return self._process.poll() is not None

        wait_until(ended, START_TIMEOUT_S)
        return int(self._process.wait())

    def get(self, target: str, **headers: str) -> Response:
        """Get a path; headers with underscores for hyphens."""
        return self.send(target, headers=headers)

    def send(
        self, target: str, method: str = "GET", headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Response:
        """Send a request; names of headers may have underscores for hyphens."""
        pairs = [(name.replace("_", "-"), value) for name, value in (headers or {}).items()]
        return send(self.url, target, method, pairs, body)

    def put(self, count: int, per_second: int = 100_000) -> None:
        """Put events through the manual API."""
        self.control("put", {"count": count, "perSecond": per_second})

    def flush(self) -> None:
        """Flush the queue."""
        self.control("flush", {})

    def counters(self) -> dict[str, Any]:
        """Return the counters of the queue."""
        response = send(self.url, "/_conformance/counters")
        assert response.status == 200, response
        return _read_counters(response.body)

    def control(self, name: str, body: dict[str, Any]) -> None:
        """Send a request of the suite itself."""
        headers = [("Content-Type", "application/json")]
        response = send(self.url, f"/_conformance/{name}", "POST", headers, json.dumps(body).encode(), timeout_s=60)
        assert 200 <= response.status < 300, response

    def terminate(self) -> dict[str, Any]:
        """Send SIGTERM, wait for the end, and return the counters of the last line."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(END_TIMEOUT_S)
        lines = self.stdout.splitlines()
        assert lines, f"the program printed nothing:\n{self.stderr}"
        return _read_counters(lines[-1])

    def kill(self) -> None:
        """End the program and its children at once."""
        self._reservation.close()
        if self._process.poll() is None or self._process.returncode != 0:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return
            self._process.wait(END_TIMEOUT_S)


def _read_counters(text: str | bytes) -> dict[str, Any]:
    counters: dict[str, Any] = json.loads(text)
    assert counters.keys() == {"queued", "sent", "dropped"}, counters
    return {**counters, "dropped": {reason: count for reason, count in counters["dropped"].items() if count}}


class Agent:
    """A running agent program."""

    def __init__(self, program: Program, errors: IO[bytes]) -> None:
        self._process = subprocess.Popen(
            program.command,
            cwd=program.language.folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def do(self, verb: str, **members: Any) -> dict[str, Any]:
        """Send one command and return its result."""
        return self.do_line(json.dumps({"do": verb, **members}).encode())

    def do_line(self, text: bytes) -> dict[str, Any]:
        """Send the text of a command and return its result."""
        assert self._process.stdin
        self._process.stdin.write(text + b"\n")
        self._process.stdin.flush()
        line = self._lines.get(timeout=ANSWER_TIMEOUT_S)
        assert line, f"the agent program ended with status {self._process.wait(END_TIMEOUT_S)}"
        result: dict[str, Any] = json.loads(line)
        assert isinstance(result["ok"], bool)
        return result

    def end(self) -> None:
        """Close its input, which ends it."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(END_TIMEOUT_S)
        finally:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            if self._process.stdout:
                self._process.stdout.close()
