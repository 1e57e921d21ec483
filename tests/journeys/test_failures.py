"""Whatever was answered with 2xx survives: a broker that is gone, processes killed at random, a database away."""

import json
import os
import random
import signal
import socket
import time

import psutil
import pytest

from config.broker import PUBLISH_TIMEOUT_S
from config.jobs import Job
from tests.factories import NOTE
from tests.journeys.load import Sender
from tests.journeys.stack import Stack, wait_until

VISIBLE_WITHIN_S = 60
"""After the broker or the workers are back."""


@pytest.fixture
def sender(stack: Stack) -> Sender:
    return Sender(stack.url, stack.company)


def assert_everything_arrives(stack: Stack, sender: Sender) -> None:
    """Wait until all that was answered is visible, once, and every reviewed interaction is confirmed."""
    wait_until(
        lambda: (
            stack.value("SELECT count(*) FROM telemetry_inbox") + stack.value("SELECT count(*) FROM promotions") == 0
        ),
        VISIBLE_WITHIN_S,
    )
    row_count = stack.value("SELECT count(*) FROM interactions WHERE id = ANY(%s::uuid[])", sender.accepted_events)
    assert row_count == len(set(sender.accepted_events)) == len(sender.accepted_events)
    reviews = stack.query(
        "SELECT r.interaction_id, r.id, i.classification FROM reviews r JOIN interactions i "
        "ON i.environment_id = r.environment_id AND i.id = r.interaction_id WHERE r.interaction_id = ANY(%s::uuid[])",
        list(sender.accepted_reviews),
    )
    assert {str(interaction): str(review) for interaction, review, _ in reviews} == sender.accepted_reviews
    assert {classification for _, _, classification in reviews} <= {"confirmed"}


def test_visible_within_two_seconds(stack: Stack, sender: Sender) -> None:
    for _ in range(3):
        assert sender.send_batch() == 202
        assert sender.send_review(sender.accepted_events[-1]) == 200
        last = sender.accepted_events[-1]
        query = "SELECT 1 FROM interactions WHERE id = %s AND classification = 'confirmed'"
        duration_s = wait_until(lambda last=last, query=query: stack.query(query, last), 10)
        assert duration_s < 2


def test_without_a_broker_everything_is_accepted_quickly_and_visible_when_it_is_back(
    stack: Stack, sender: Sender
) -> None:
    stack.valkey.stop(signal.SIGKILL)
    try:
        for _ in range(30):
            assert sender.send_batch() == 202
            assert sender.send_review(sender.accepted_events[-1]) == 200
            time.sleep(0.05)
        # Waiting for the broker would cost a request of each second its time-out; a busy machine delays one or two.
        assert sorted(seconds for _, _, seconds in sender.statuses)[-3] < PUBLISH_TIMEOUT_S
    finally:
        stack.valkey.start()
    # It came back empty; the job is notified again, or the sweep finds the rows.
    assert_everything_arrives(stack, sender)


def test_a_frozen_broker_delays_nobody(stack: Stack, sender: Sender) -> None:
    assert stack.valkey.process
    stack.valkey.process.send_signal(signal.SIGSTOP)
    try:
        for _ in range(20):
            assert sender.send_batch() == 202
            assert sender.send_review() == 200
            time.sleep(0.1)
        # Waiting for the broker would cost a request of each second its time-out; a busy machine delays one or two.
        assert sorted(seconds for _, _, seconds in sender.statuses)[-3] < PUBLISH_TIMEOUT_S
    finally:
        stack.valkey.process.send_signal(signal.SIGCONT)
    assert_everything_arrives(stack, sender)


def test_killing_processes_at_random_during_load_loses_and_doubles_nothing(stack: Stack, sender: Sender) -> None:
    chance = random.Random(20261121)
    with sender.in_background():
        for _ in range(10):
            time.sleep(chance.uniform(0.2, 1.2))
            stack.supervisor.kill(chance.choice(["web", "web", "worker", "beat"]))
            time.sleep(chance.uniform(0.0, 0.5))
            stack.supervisor.restart_dead()
        stack.wait_until_web_answers()
        time.sleep(1)
    assert len(sender.accepted_events) > 100
    assert len(sender.accepted_reviews) > 20
    assert_everything_arrives(stack, sender)


def test_a_database_that_is_away_is_503_within_two_seconds_and_back_without_a_restart(
    stack: Stack, sender: Sender
) -> None:
    web = stack.supervisor.processes["web"].pid
    sender.send_batch()
    stack.postgres.stop(signal.SIGQUIT)
    try:
        for _ in range(8):
            assert sender.send_batch() == 503
            assert sender.send_review() == 503
        assert max(seconds for _, _, seconds in sender.statuses[1:]) < 2
    finally:
        stack.postgres.start()
    wait_until(lambda: sender.send_batch() == 202 and sender.send_review() == 200, 10)
    assert stack.supervisor.processes["web"].pid == web
    assert_everything_arrives(stack, sender)


def test_a_frozen_database_is_503_within_two_seconds(stack: Stack, sender: Sender) -> None:
    assert stack.postgres.process
    server = psutil.Process(stack.postgres.process.pid)
    frozen = [server.pid, *(backend.pid for backend in server.children())]
    _signal_all(frozen, signal.SIGSTOP)
    try:
        for _ in range(3):
            assert sender.send_review() == 503
            assert sender.send_batch() == 503
        assert max(seconds for _, _, seconds in sender.statuses) < 2
    finally:
        _signal_all(frozen, signal.SIGCONT)
    wait_until(lambda: sender.send_batch() == 202, 10)
    assert_everything_arrives(stack, sender)


def _signal_all(processes: list[int], signal_number: signal.Signals) -> None:
    for process in processes:
        try:
            os.kill(process, signal_number)
        except ProcessLookupError:
            continue


def test_a_revoked_key_is_refused_within_a_second_by_every_process(stack: Stack, sender: Sender) -> None:
    key = stack.flask("key", "create", "--environment", str(stack.company.environment_id), "--kind", "product")
    temporary = Sender(stack.url, type(stack.company)(**{**stack.company.__dict__, "product_key": key["key"]}))
    # Every process has found the database again that an earlier test may have killed.
    wait_until(lambda: {temporary.send_batch() for _ in range(10)} == {202}, 20)
    assert {temporary.send_batch() for _ in range(10)} == {202}
    assert {temporary.send_review() for _ in range(10)} == {200}
    stack.flask("key", "revoke", key["keyId"])
    time.sleep(1)
    assert {temporary.send_batch() for _ in range(10)} == {401}
    assert {temporary.send_review() for _ in range(10)} == {401}


NOTICES = ("starting it again", "Warm shutdown")
"""What the supervisor and Celery print when a process ends."""


def test_logs_are_json_lines_without_content(stack: Stack, sender: Sender) -> None:
    secret = "an-unmistakable-customer-reference"
    sender._post("", "/api/v2/telemetry/batches", sender.company.product_key, {"events": [{"customerRef": secret}]})
    sender._post("", f"/{secret}", secret, {"note": secret})
    sender.send_review()
    host, port = stack.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        # Its length is too short, so the rest of the body is read as the next request.
        connection.sendall(f"POST /api/v2/outcomes HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n{secret}".encode())
        connection.settimeout(2)
        connection.recv(4096)
    time.sleep(0.5)
    log = stack.log.read_text()
    for word in (secret, NOTE, sender.company.product_key, "afr2_"):
        assert word not in log
    lines = [line.partition("| ")[2] for line in log.splitlines() if line.startswith(("web", "worker"))]
    service_lines = [
        line for line in lines if line and not line.startswith("[") and not any(map(line.__contains__, NOTICES))
    ]
    assert len(service_lines) >= 5
    assert [line for line in service_lines if not line.startswith("{") or "message" not in json.loads(line)] == []


def test_clients_that_fall_silent_do_not_keep_everybody_out(stack: Stack, sender: Sender) -> None:
    host, port = stack.url.removeprefix("http://").split(":")
    connections = [socket.create_connection((host, int(port))) for _ in range(12)]
    try:
        for connection in connections:
            connection.sendall(b"POST /api/v2/outcomes HTTP/1.1\r\nHost: x\r\nContent-Le")
        time.sleep(0.5)
        wait_until(lambda: sender.send_batch() == 202, 25)
    finally:
        for connection in connections:
            connection.close()


def test_the_sweeps_find_what_no_notification_announced_and_the_days_are_counted(stack: Stack, sender: Sender) -> None:
    # The servers of this stack were stopped by other tests a moment ago: an agent tries again after a 503.
    wait_until(lambda: sender.send_batch() == 202, 10)
    wait_until(lambda: sender.send_review(sender.accepted_events[-1]) == 200, 10)
    # Within the window in which notifications are gathered: whoever would have sent them is gone.
    with stack.stop_process("web"):
        assert_everything_arrives(stack, sender)
    stack.wait_until_web_answers()
    count_interactions = "SELECT coalesce(sum(interactions), 0) FROM interaction_days"
    wait_until(
        lambda: stack.value(count_interactions) == stack.value("SELECT count(*) FROM interactions"), VISIBLE_WITHIN_S
    )
    count_reviews = "SELECT coalesce(sum(success + partial + failure), 0) FROM interaction_days"
    wait_until(lambda: stack.value(count_reviews) == stack.value("SELECT count(*) FROM reviews"), VISIBLE_WITHIN_S)


def test_beat_sends_every_job_when_it_starts_however_long_its_period_is(stack: Stack) -> None:
    with stack.stop_process("beat"):
        stopped_at = stack.value("SELECT clock_timestamp()")
    sent = "SELECT count(*) FROM job_runs WHERE scheduled_at > %s"
    wait_until(lambda: stack.value(sent, stopped_at) == len(Job), 20)
