"""The parts of `bin/dev`."""

import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import click
import psycopg2
import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.cli.dev.__main__ import _choose_port
from app.cli.dev.output import Output
from app.cli.dev.postgres import EmbeddedPostgres
from app.cli.dev.reviews import ReviewFeed, line
from app.cli.dev.server_process import socket_folder
from app.health.connections import broker_error, database_error
from config.settings import Settings
from tests.conftest import ROOT
from tests.factories import Company, send_review

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_port_of_the_administrator_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", forbidden)
    with pytest.raises(click.ClickException, match="port 80 is for the administrator alone; choose one from 1024 on"):
        _choose_port(80)


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("postgresql://x:pw@127.0.0.1:1/x", "PostgreSQL at 127.0.0.1:1 refuses connections; is DATABASE_URL right?"),
        ("postgres://x@/x?host=/nowhere", "PostgreSQL at /nowhere does not exist; is DATABASE_URL right?"),
        (
            "postgresql://x@nowhere.invalid/x",
            "PostgreSQL at nowhere.invalid:5432 has a name that cannot be resolved; is DATABASE_URL right?",
        ),
    ],
)
def test_a_database_that_cannot_be_reached_is_a_sentence(url: str, error: str) -> None:
    assert database_error(url) == error


def test_a_database_that_does_not_exist_is_a_sentence(settings: Settings) -> None:
    url = settings.database_url.replace("/test_", "/nothing_")
    error = database_error(url)
    assert error
    assert 'reports: database "nothing_' in error
    assert error.endswith(" does not exist; is DATABASE_URL right?")


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("redis://:pw@127.0.0.1:1/0", "Redis at 127.0.0.1:1 refuses connections; is REDIS_URL right?"),
        ("redis+socket:///nowhere", "Redis at /nowhere does not exist; is REDIS_URL right?"),
        (
            "redis://nowhere.invalid/0",
            "Redis at nowhere.invalid:6379 has a name that cannot be resolved; is REDIS_URL right?",
        ),
    ],
)
def test_a_broker_that_cannot_be_reached_is_a_sentence(url: str, error: str) -> None:
    assert broker_error(url) == error


def test_servers_that_can_be_reached_are_no_error(settings: Settings) -> None:
    assert (database_error(settings.database_url), broker_error(settings.broker_url)) == (None, None)


def test_a_review_is_shown_once_when_it_arrives(
    app: Flask, client: FlaskClient, company: Company, settings: Settings
) -> None:
    feed = ReviewFeed(settings.database_url.replace("+psycopg2", ""), company.environment_id)
    send_review(client, company.capability(), note="This was there before anybody looked.")
    with closing(psycopg2.connect(settings.database_url.replace("+psycopg2", ""))) as connection:
        connection.autocommit = True
        assert list(feed.read(connection)) == []
        send_review(client, company.capability(), "failure", "The second order was missing.")
        (shown,) = feed.read(connection)
        assert shown.endswith("  failure  (no telemetry yet)  The second order was missing.")
        assert list(feed.read(connection)) == []


def test_a_line_about_a_review_has_a_bounded_length_and_no_control_characters() -> None:
    text = line(NOW, "success", "one\nline \x1b[31m" + "x" * 500, "/orders/:id")
    assert text.isprintable()
    assert len(text) == 120


def test_routine_messages_are_only_in_the_log_unless_verbose() -> None:
    lines = ['{"level": "info", "message": "request"}', '{"level": "warning", "message": "slow"}', "Traceback"]
    for is_verbose, shown in ((False, lines[1:]), (True, lines)):
        log, terminal = io.StringIO(), io.StringIO()
        output = Output(log, is_verbose=is_verbose, terminal=terminal)
        for text in lines:
            output.write_process_line("web", text)
        assert log.getvalue().splitlines() == [f"web    | {text}" for text in lines]
        assert terminal.getvalue().splitlines() == [f"web    | {text}" for text in shown]


def test_postgres_starts_although_its_predecessor_is_a_zombie(tmp_path: Path) -> None:
    sockets = socket_folder()
    first = EmbeddedPostgres(tmp_path / "data", sockets, tmp_path / "log", is_durable=False)
    second = EmbeddedPostgres(tmp_path / "data", sockets, tmp_path / "log", is_durable=False)
    try:
        first.start()
        assert first.process
        # Nobody waits for it, so its entry in the table of processes stays.
        os.kill(first.process.pid, signal.SIGKILL)
        time.sleep(0.5)
        second.start()
    finally:
        second.stop()
        first.stop()


@pytest.mark.parametrize(
    ("python", "error"),
    [
        ("/nowhere/python3", "PYTHON names /nowhere/python3, which is no program"),
        ("/bin/false", "PYTHON names /bin/false, which is not Python 3.11 or newer"),
    ],
)
def test_a_named_python_is_checked(tmp_path: Path, python: str, error: str) -> None:
    done = run_setup(installed_checkout(tmp_path), PYTHON=python)
    assert (done.returncode, done.stderr) == (1, error + "\n")


def test_setup_takes_its_lock_without_the_flock_command(tmp_path: Path) -> None:
    checkout = installed_checkout(tmp_path)
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "cat", "cksum", "dirname"):
        (tools / name).symlink_to(shutil.which(name) or name)
    holding = (
        "import fcntl, sys, time; file = open(sys.argv[1], 'a'); fcntl.flock(file, fcntl.LOCK_EX);"
        "print('locked', flush=True); time.sleep(2)"
    )
    command = [sys.executable, "-c", holding, checkout / ".setup.lock"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"locked\n"
        began = time.monotonic()
        done = run_setup(checkout, PATH=str(tools), PYTHON=sys.executable)
        waited_s = time.monotonic() - began
    assert (done.returncode, done.stderr) == (0, "")
    assert waited_s > 1.5


def installed_checkout(folder: Path) -> Path:
    """Return a checkout with a space in its path, in which everything is installed already."""
    checkout = folder / "a checkout"
    content = b""
    for name in ("requirements.txt", "requirements-dev.txt", "sdk/python/pyproject.toml"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_bytes((ROOT / name).read_bytes())
        content += (ROOT / name).read_bytes()
    for folder_name in ("bin", ".venv"):
        (checkout / folder_name).mkdir()
    shutil.copy(ROOT / "bin/setup", checkout / "bin/setup")
    checksum = subprocess.run(["cksum"], input=content, capture_output=True, check=True, timeout=10).stdout.decode()
    (checkout / ".venv/installed").write_text(f"{checksum.strip()} {checkout}\n")
    return checkout


def run_setup(checkout: Path, **environ: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [checkout / "bin/setup"], env={**os.environ, **environ}, capture_output=True, text=True, timeout=60, check=False
    )
