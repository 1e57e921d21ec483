"""The parts of `bin/dev`."""

import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.accounts import service as accounts
from app.cli.dev import demo, reviews
from app.cli.dev.__main__ import _choose_port
from app.cli.dev.output import Output
from app.cli.dev.postgres import EmbeddedPostgres
from app.cli.dev.reviews import ReviewLog, format_line, write_reviews
from app.cli.dev.server_process import socket_folder
from app.core.database import transaction
from app.core.errors import DatabaseUnavailable
from app.health.connections import database_error
from app.interactions.feed import FeedItem
from app.outcomes.queries import REVIEWS
from app.products import service as products
from config.broker_connection import broker_error
from config.settings import Settings
from tests.conftest import ROOT
from tests.factories import Company, send_review

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_port_of_the_administrator_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse)
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


def test_rabbitmq_that_cannot_be_reached_is_a_sentence() -> None:
    assert broker_error("amqp://agent:pw@127.0.0.1:1//", "AGENT_FEEDBACK_BROKER_URL") == (
        "RabbitMQ at 127.0.0.1:1 refuses connections; is AGENT_FEEDBACK_BROKER_URL right?"
    )


def test_servers_that_can_be_reached_are_no_error(settings: Settings) -> None:
    assert (database_error(settings.database_url), broker_error(settings.broker_url)) == (None, None)


@pytest.mark.usefixtures("app")
def test_a_review_is_shown_once_when_it_arrives(client: FlaskClient, company: Company) -> None:
    send_review(client, company.capability(), note="This was there before anybody looked.")
    log = ReviewLog(company.environment_id)
    assert list(log.poll()) == []
    send_review(client, company.capability(), "failure", "The second order was missing.")
    (line,) = log.poll()
    assert line.endswith("  failure  pending  The second order was missing.")
    assert list(log.poll()) == []


def test_reviews_are_shown_again_after_a_loss_of_the_database(
    app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "POLL_INTERVAL_S", 0.01)
    stop_event, lines, list_after = threading.Event(), list[str](), REVIEWS.list_after

    def fail_once(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(REVIEWS, "list_after", list_after)
        send_review(client, company.capability(), "failure", "It arrived during the loss.")
        raise DatabaseUnavailable

    def write(line: str) -> None:
        lines.append(line)
        stop_event.set()

    monkeypatch.setattr(REVIEWS, "list_after", fail_once)
    write_reviews(app, company.environment_id, write, stop_event)
    assert [line.rpartition("  ")[2] for line in lines] == ["It arrived during the loss."]


def test_a_line_about_a_review_has_a_bounded_length_and_no_control_characters() -> None:
    note = "one\nline \x1b[31m" + "x" * 500
    text = format_line(FeedItem(NOW, uuid.uuid4(), uuid.uuid4(), "success", note, "/orders/:id"))
    assert text.isprintable()
    assert len(text) == 120


def test_routine_messages_are_only_in_the_log_unless_verbose() -> None:
    lines = ['{"level": "info", "message": "request"}', '{"level": "warning", "message": "slow"}', "Traceback"]
    for is_verbose, expected_lines in ((False, lines[1:]), (True, lines)):
        log, terminal = io.StringIO(), io.StringIO()
        output = Output(log, is_verbose=is_verbose, terminal=terminal)
        for text in lines:
            output.write_process_line("web", text)
        assert log.getvalue().splitlines() == [f"web    | {text}" for text in lines]
        assert terminal.getvalue().splitlines() == [f"web    | {text}" for text in expected_lines]


def test_postgres_starts_although_its_predecessor_is_a_zombie(tmp_path: Path) -> None:
    sockets = socket_folder()
    first_server = EmbeddedPostgres(tmp_path / "data", sockets, tmp_path / "log", is_durable=False)
    second_server = EmbeddedPostgres(tmp_path / "data", sockets, tmp_path / "log", is_durable=False)
    try:
        first_server.start()
        assert first_server.process
        # Nobody waits for it, so its entry in the table of processes stays.
        os.kill(first_server.process.pid, signal.SIGKILL)
        time.sleep(0.5)
        second_server.start()
    finally:
        second_server.stop()
        first_server.stop()


@pytest.mark.parametrize(
    ("python", "error"),
    [
        ("/nowhere/python3", "PYTHON names /nowhere/python3, which is no program"),
        ("/bin/false", "PYTHON names /bin/false, which is not Python 3.11 or newer"),
    ],
)
def test_a_named_python_is_checked(tmp_path: Path, python: str, error: str) -> None:
    process = run_setup(installed_checkout(tmp_path), PYTHON=python)
    assert (process.returncode, process.stderr) == (1, error + "\n")


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
        started_at = time.monotonic()
        process = run_setup(checkout, PATH=str(tools), PYTHON=sys.executable)
        waited_s = time.monotonic() - started_at
    assert (process.returncode, process.stderr) == (0, "")
    assert waited_s > 1.5


def installed_checkout(folder: Path) -> Path:
    """Return a checkout with a space in its path, in which everything is installed already."""
    checkout = folder / "a checkout"
    content = b""
    for name in ("requirements.txt", "requirements.lock", "requirements-dev.lock", "sdk/python/pyproject.toml"):
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


def test_the_demo_user_gets_a_second_workspace_that_is_seeded_once(app: Flask, company: Company) -> None:
    workspace_id = demo.find_sample_workspace(company.email)
    assert workspace_id is not None
    assert workspace_id != company.workspace_id
    for _ in range(2):
        demo.seed_sample(app, workspace_id, threading.Event())
        with transaction():
            assert len(products.list_products(workspace_id)) == 3
            assert len(products.list_products(company.workspace_id)) == 1
        assert demo.find_sample_workspace(company.email) == workspace_id
    with transaction():
        assert [workspace.name for workspace in accounts.list_workspaces()] == [
            "Example company",
            demo.SAMPLE_WORKSPACE,
        ]


def test_products_of_ones_own_in_the_sample_workspace_stay_alone(app: Flask, company: Company) -> None:
    workspace_id = demo.find_sample_workspace(company.email)
    assert workspace_id is not None
    with transaction():
        products.create_product(workspace_id, "Mine")
    demo.seed_sample(app, workspace_id, threading.Event())
    with transaction():
        assert [product.name for product in products.list_products(workspace_id)] == ["Mine"]


def test_without_the_demo_user_there_is_no_sample_workspace(app: Flask) -> None:
    assert demo.find_sample_workspace("nobody@example.com") is None


def test_sample_data_waits_for_a_database_that_is_away(
    app: Flask, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "RETRY_INTERVAL_S", 0.01)
    answers = [DatabaseUnavailable(), DatabaseUnavailable(), None]

    def seed(workspace_id: uuid.UUID) -> None:
        answer = answers.pop(0)
        if answer:
            raise answer

    monkeypatch.setattr(demo.sample_data, "seed", seed)
    demo.seed_sample(app, company.workspace_id, threading.Event())
    assert answers == []
