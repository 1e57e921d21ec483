"""The broker is killed again and again, each time while the worker finishes a job."""

import os
import random
import signal
import time
from contextlib import closing

import psycopg2
import pytest

from tests.journeys.load import Sender
from tests.journeys.stack import Stack

KILLS = int(os.environ.get("AGENT_FEEDBACK_BROKER_KILLS", "10"))
"""The fault that this guards against struck about once in 35; 300 kills take a quarter of an hour."""

VISIBLE_WITHIN_S = 120.0

FIND_CONFIRMED = "SELECT 1 FROM interactions WHERE id = %s AND classification = 'confirmed'"


@pytest.fixture
def sender(stack: Stack) -> Sender:
    return Sender(stack.url, stack.company)


def test_the_worker_survives_every_death_of_the_broker(stack: Stack, sender: Sender) -> None:
    worker, restarts = stack.supervisor.processes["worker"].pid, stack.supervisor.restarts["worker"]
    pauses = random.Random(20261121)
    slowest_s = max(kill_broker_once_visible(stack, sender, pauses.uniform(0.0, 1.0)) for _ in range(KILLS))
    print(f"{KILLS} kills, the slowest visible after {slowest_s:.1f} s")  # noqa: T201  # read in the log of a long run
    assert stack.supervisor.restarts["worker"] == restarts
    assert stack.supervisor.processes["worker"].pid == worker


def kill_broker_once_visible(stack: Stack, sender: Sender, pause_s: float) -> float:
    """Send work, kill the broker the moment the work is visible, start it anew; returns the seconds until visible."""
    assert sender.send_batch() == 202
    assert sender.send_review(sender.accepted_events[-1]) == 200
    started_at = time.monotonic()
    wait_for_confirmation(stack, sender.accepted_events[-1])
    took_s = time.monotonic() - started_at
    stack.valkey.stop(signal.SIGKILL)
    time.sleep(pause_s)
    stack.valkey.start()
    return took_s


def wait_for_confirmation(stack: Stack, interaction_id: str) -> None:
    """Look every two milliseconds, so that the kill comes before the worker is done with its message."""
    deadline = time.monotonic() + VISIBLE_WITHIN_S
    with closing(psycopg2.connect(stack.environ["DATABASE_URL"])) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        while True:
            cursor.execute(FIND_CONFIRMED, (interaction_id,))
            if cursor.fetchone():
                return
            assert time.monotonic() < deadline, f"not visible within {VISIBLE_WITHIN_S} seconds"
            time.sleep(0.002)
