"""Debian's RabbitMQ as an ordinary process, with a folder, ports and an epmd of its own."""

import os
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from app.cli.dev.server_process import ServerProcess
from tests.journeys.stack import free_port, wait_until

PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
"""What Debian's command of this name runs, as the system's own user only."""

START_TIMEOUT_S = 60


class RabbitMq:
    """A RabbitMQ that can be killed and started again; its data is lost each time."""

    def __init__(self, folder: Path) -> None:
        if not PROGRAM.exists() or not shutil.which("epmd"):
            pytest.skip("RabbitMQ is not installed, and this needs a real one: apt-get install rabbitmq-server")
        self.folder, self.port = folder, free_port()
        self._epmd_port, self._node_port = free_port(), free_port()
        self._epmd: subprocess.Popen[bytes] | None = None
        self.process: ServerProcess | None = None

    @property
    def url(self) -> str:
        """The URL for Celery."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def start(self) -> None:
        """Start the server without data, and wait until it accepts connections."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        if self._epmd is None:
            # Otherwise Erlang starts one that stays.
            self._epmd = subprocess.Popen(["epmd", "-port", str(self._epmd_port), "-address", "127.0.0.1"])
            wait_until(lambda: _is_open(self._epmd_port), 10)
        environ, os_environ = self._environ(), dict(os.environ)
        try:
            # A server process inherits its environment.
            os.environ.update(environ)
            self.process = ServerProcess([PROGRAM], self.folder / "rabbitmq.log")
        finally:
            os.environ.clear()
            os.environ.update(os_environ)
        wait_until(self._is_ready, START_TIMEOUT_S)

    def kill(self) -> None:
        """Kill the server with everything it has started."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(10)
            self.process = None

    def end(self) -> None:
        """Kill the server and its epmd."""
        self.kill()
        if self._epmd is not None:
            self._epmd.kill()
            self._epmd.wait(10)

    def _is_ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.process.read_log()
        return _is_open(self.port)

    def _environ(self) -> dict[str, str]:
        missing = str(self.folder / "missing")
        return {
            "HOME": str(self.folder),
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"journey{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._node_port),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "data"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            # Those of the system's own server are not read.
            "RABBITMQ_CONF_ENV_FILE": missing,
            "RABBITMQ_CONFIG_FILE": missing,
        }


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
