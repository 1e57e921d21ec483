"""RabbitMQ as the broker: what is accepted becomes visible, also while it is killed and its messages are lost."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import requests
from kombu import Connection

from tests.journeys.load import Sender
from tests.journeys.rabbitmq import RabbitMq
from tests.journeys.stack import Stack, wait_until
from tests.journeys.test_broker_kills import wait_for_confirmation
from tests.journeys.test_failures import assert_everything_arrives
from tests.journeys.tree import Tree, running_tree

MAX_WAIT_S = 3
"""No request waits for the broker, whose time-outs together take longer."""


@pytest.fixture(scope="module")
def rabbitmq(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitMq]:
    rabbitmq = RabbitMq(tmp_path_factory.mktemp("rabbitmq"))
    try:
        rabbitmq.start()
        yield rabbitmq
    finally:
        rabbitmq.end()


@pytest.fixture(scope="module")
def tree(stack: Stack, rabbitmq: RabbitMq, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    """A machine that has RabbitMQ for a broker, and no Redis for counters; no other runs jobs.

    Without beat at first, so that what becomes visible was notified.
    """
    with ExitStack() as cleanup:
        for name in ("worker", "beat"):
            cleanup.enter_context(stack.stop_process(name))
        settings = {"AGENT_FEEDBACK_BROKER_URL": rabbitmq.url, "REDIS_URL": ""}
        tree = cleanup.enter_context(running_tree(stack, tmp_path_factory.mktemp("tree"), **settings))
        tree.supervisor.stop("beat")
        yield tree


@pytest.fixture
def sender(tree: Tree, stack: Stack) -> Sender:
    return Sender(tree.url, stack.company)


def readiness(tree: Tree) -> dict[str, object]:
    answer: dict[str, object] = requests.get(f"{tree.url}/readyz", timeout=10).json()
    return answer


def test_a_notification_makes_visible_what_no_sweep_has_found(stack: Stack, tree: Tree, sender: Sender) -> None:
    with sender.in_background():
        wait_until(lambda: len(sender.accepted_reviews) >= 50, 30)
    assert {status for _, status, _ in sender.statuses} == {200, 202}
    assert_everything_arrives(stack, sender)
    assert readiness(tree)["status"] == "ready"
    assert "REDIS_URL is not set" in tree.log.read_text()


def test_while_it_is_frozen_nobody_waits(stack: Stack, sender: Sender, rabbitmq: RabbitMq) -> None:
    assert rabbitmq.process
    os.killpg(rabbitmq.process.pid, signal.SIGSTOP)
    try:
        for _ in range(20):
            assert sender.send_batch() == 202
            assert sender.send_review(sender.accepted_events[-1]) == 200
            time.sleep(0.1)
        assert max(seconds for _, _, seconds in sender.statuses) < MAX_WAIT_S
    finally:
        os.killpg(rabbitmq.process.pid, signal.SIGCONT)
    assert_everything_arrives(stack, sender)


def test_it_is_killed_and_comes_back_without_its_messages(
    stack: Stack, tree: Tree, sender: Sender, rabbitmq: RabbitMq
) -> None:
    worker = tree.supervisor.processes["worker"]
    rabbitmq.kill()
    for _ in range(10):
        assert sender.send_batch() == 202
        assert sender.send_review(sender.accepted_events[-1]) == 200
        time.sleep(0.05)
    assert max(seconds for _, _, seconds in sender.statuses) < MAX_WAIT_S
    body = readiness(tree)
    assert (body["status"], body["broker"], body["database"]) == ("not_ready", False, True)
    assert str(body["error"]).startswith("The broker cannot be reached")
    rabbitmq.start()
    assert_everything_arrives(stack, sender)
    # The worker has reconnected, and is notified as before.
    assert sender.send_batch() == 202
    assert sender.send_review(sender.accepted_events[-1]) == 200
    wait_for_confirmation(stack, sender.accepted_events[-1])
    assert worker.poll() is None
    assert readiness(tree)["status"] == "ready"


def test_what_lost_messages_announced_is_found_by_a_sweep(
    stack: Stack, tree: Tree, sender: Sender, rabbitmq: RabbitMq
) -> None:
    tree.supervisor.stop("worker")
    assert sender.send_batch() == 202
    tree.supervisor.stop("web")
    with Connection(rabbitmq.url, connect_timeout=10) as connection:
        connection.default_channel.queue_purge("ingest")
    assert stack.value("SELECT count(*) FROM telemetry_inbox") == 1
    tree.supervisor.start("worker", stack.commands["worker"])
    tree.supervisor.start("beat", stack.commands["beat"])
    assert_everything_arrives(stack, sender)
