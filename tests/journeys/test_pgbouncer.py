"""The service behind PgBouncer in transaction mode, with fewer connections to the server than threads."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
import requests

from tests.conftest import ROOT
from tests.factories import observation
from tests.journeys.load import Sender
from tests.journeys.stack import BIN, Stack, wait_until
from tests.journeys.test_evidence import send as send_evidence
from tests.journeys.test_failures import assert_everything_arrives
from tests.journeys.tree import Tree, running_tree
from tests.pgbouncer import running_pgbouncer

POOL_SIZE = 3


@pytest.fixture(scope="module")
def tree(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    """A machine that reaches the database through PgBouncer only; no other runs jobs."""
    folder = tmp_path_factory.mktemp("pgbouncer")
    with ExitStack() as cleanup:
        pgbouncer = cleanup.enter_context(
            running_pgbouncer(stack.environ["DATABASE_URL"], folder / "pgbouncer.log", POOL_SIZE)
        )
        for name in ("worker", "beat"):
            cleanup.enter_context(stack.stop_process(name))
        settings = {"DATABASE_URL": pgbouncer.url, "AGENT_FEEDBACK_PREPARED_STATEMENTS": "false"}
        yield cleanup.enter_context(running_tree(stack, folder, **settings))


@pytest.fixture
def sender(tree: Tree, stack: Stack) -> Sender:
    return Sender(tree.url, stack.company)


def flask(tree: Tree, *arguments: str, **changes: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [BIN / "flask", *arguments],
        env={**tree.environ, **changes},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_what_is_accepted_under_load_becomes_visible(stack: Stack, tree: Tree, sender: Sender) -> None:
    with sender.in_background():
        wait_until(lambda: len(sender.accepted_reviews) >= 100, 30)
    assert {status for _, status, _ in sender.statuses} == {200, 202}
    assert_everything_arrives(stack, sender)
    assert "prepared statement" not in tree.log.read_text()


def test_evidence_is_stored_once(stack: Stack, tree: Tree) -> None:
    behind = replace(stack, url=tree.url)
    events = [observation() for _ in range(50)]
    assert send_evidence(behind, events) == {"accepted": 50, "duplicates": 0, "expired": 0}
    assert send_evidence(behind, events) == {"accepted": 0, "duplicates": 50, "expired": 0}


def test_users_sign_in_and_every_process_was_seen(stack: Stack, tree: Tree) -> None:
    credentials = {"email": stack.company.email, "password": stack.company.password}
    with requests.Session() as browser:
        assert browser.post(f"{tree.url}/api/session", json=credentials, timeout=10).status_code == 200
        assert browser.get(f"{tree.url}/", timeout=10).status_code == 200
    readiness = requests.get(f"{tree.url}/readyz", timeout=10).json()
    assert readiness["status"] == "ready"
    assert readiness["worker"]["running"] is readiness["beat"]["running"] is True


def test_commands_run_through_it_and_migrations_do_not(stack: Stack, tree: Tree) -> None:
    listed = flask(tree, "key", "list", "--environment", str(stack.company.environment_id), "--json")
    assert len(json.loads(listed.stdout)) >= 2
    refused = flask(tree, "db", "upgrade", AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL=tree.environ["DATABASE_URL"])
    assert refused.returncode == 1
    assert "connection pooler" in refused.stderr
    assert "AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL" in refused.stderr


def test_a_database_that_is_away_behind_it_is_503_and_back_without_a_restart(stack: Stack, sender: Sender) -> None:
    assert sender.send_batch() == 202
    stack.postgres.stop(signal.SIGQUIT)
    try:
        assert [sender.send_batch() for _ in range(3)] == [503] * 3
        assert sender.send_review() == 503
    finally:
        stack.postgres.start()
    wait_until(lambda: sender.send_batch() == 202 and sender.send_review() == 200, 15)
    assert_everything_arrives(stack, sender)
