"""What `bin/dev` says where it cannot start."""

import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT


def test_servers_that_cannot_be_reached_are_a_sentence_each(tmp_path: Path) -> None:
    environ = {"DATABASE_URL": "postgresql://nobody:secret@127.0.0.1:1/x", "REDIS_URL": "redis://:secret@127.0.0.1:2/0"}
    failed = run_dev("--data-dir", str(tmp_path), **environ)
    assert (failed.returncode, failed.stdout.splitlines()) == (1, ["using the named servers …"])
    assert failed.stderr.splitlines() == [
        "Error: PostgreSQL at 127.0.0.1:1 refuses connections; is DATABASE_URL right?",
        "Redis at 127.0.0.1:2 refuses connections; is REDIS_URL right?",
    ]


def test_a_taken_port_is_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        failed = run_dev("--data-dir", str(tmp_path), "--port", str(port))
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr == f"Error: port {port} is taken; choose another with --port\n"


@pytest.mark.parametrize("data_dir", ["/proc/nowhere", "/dev/null"])
def test_a_place_that_cannot_be_written_to_is_a_sentence(data_dir: str) -> None:
    failed = run_dev("--data-dir", data_dir)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert re.fullmatch(rf"Error: cannot use {data_dir}: [\w ]+; is --data-dir right\?\n", failed.stderr)


def test_it_calls_itself_by_its_own_name() -> None:
    assert run_dev("--help").stdout.startswith("Usage: bin/dev [OPTIONS]\n")
    assert run_dev("--nonsense").stderr.startswith("Usage: bin/dev [OPTIONS]\n")


def run_dev(*arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """Run it to its end; the URLs of servers are only what the test names."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    command = [ROOT / "bin/dev", *arguments]
    return subprocess.run(
        command, env={**environment, **environ}, capture_output=True, text=True, timeout=60, check=False
    )
