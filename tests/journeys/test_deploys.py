"""Replacing the processes of a service that 64 clients use: no request is lost.

`python -m bench.deploys` measures how long a client waits.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import psutil
import psycopg2
import pytest

from tests.conftest import ROOT
from tests.journeys.crowd import Crowd
from tests.journeys.load import Sender
from tests.journeys.stack import Stack, free_port, wait_until
from tests.journeys.web import START_TIMEOUT_S, Web, running_web

LEAVE_WITHIN_S = 60

# What systemd does for a service with sockets: descriptors from 3 on are those that listen, and two variables say so.
PASS_SOCKETS = (
    "import os, sys; sockets = [int(fd) for fd in sys.argv[1].split(',')]; "
    "[os.dup2(fd, number) for number, fd in enumerate(sockets, 3)]; "
    "os.environ.update(LISTEN_FDS=str(len(sockets)), LISTEN_PID=str(os.getpid())); os.execvp(sys.argv[2], sys.argv[2:])"
)


@pytest.fixture(scope="module")
def web(stack: Stack) -> Iterator[Web]:
    with running_web(stack) as web:
        yield web


def assert_all_are_stored(stack: Stack, crowd: Crowd) -> None:
    """Compare the reviews that were answered with those that are stored; every client has got its answer in the end."""
    rows = stack.query(
        "SELECT interaction_id, id FROM reviews WHERE interaction_id = ANY(%s::uuid[])", list(crowd.reviews)
    )
    assert len(crowd.reviews) >= crowd.size
    assert {str(interaction_id): str(id_) for interaction_id, id_ in rows} == crowd.reviews


def has_only_new_workers(web: Web, old_workers: set[int], number: int = 2) -> bool:
    workers = web.workers()
    return len(workers) == number and not workers & old_workers


def test_sighup_loses_no_request(stack: Stack, web: Web) -> None:
    old_workers = web.workers()
    with Crowd(web.url, stack.company).running() as crowd:
        time.sleep(1)
        os.kill(web.master(), signal.SIGHUP)
        wait_until(lambda: has_only_new_workers(web, old_workers), LEAVE_WITHIN_S)
    assert crowd.failures() == []
    assert_all_are_stored(stack, crowd)


def test_a_new_master_takes_over_without_losing_a_request(stack: Stack, web: Web) -> None:
    old_master = web.master()
    with Crowd(web.url, stack.company).running() as crowd:
        time.sleep(1)
        web.replace_master()
    assert web.master() != old_master
    assert crowd.failures() == []
    assert_all_are_stored(stack, crowd)


def test_a_killed_worker_loses_only_what_it_had_in_its_hands(stack: Stack, web: Web) -> None:
    worker = min(web.workers())
    with Crowd(web.url, stack.company).running() as crowd:
        time.sleep(1)
        killed_at = time.monotonic()
        os.kill(worker, signal.SIGKILL)
        # Its connections end with its last thread, and only then its master can see that it has ended.
        wait_until(lambda: not psutil.pid_exists(worker), LEAVE_WITHIN_S)
        ended_at = time.monotonic()
        time.sleep(1)
    assert {failure.status for failure in crowd.failures()} <= {0}
    assert all(failure.began_at < ended_at and failure.ended_at > killed_at for failure in crowd.failures())
    # Every client has sent such a request again.
    assert_all_are_stored(stack, crowd)


def test_the_only_worker_is_replaced_at_its_last_request_without_losing_one(stack: Stack) -> None:
    options = "--max-requests 100 --max-requests-jitter 0"
    with running_web(stack, WEB_CONCURRENCY="1", GUNICORN_CMD_ARGS=options) as web:
        workers = web.workers()
        with Crowd(web.url, stack.company).running() as crowd:
            # Its successor is there before it has left.
            wait_until(lambda: web.workers() > workers, LEAVE_WITHIN_S)
            wait_until(lambda: not web.workers() & workers, LEAVE_WITHIN_S)
        # None is left over of those that had successors.
        wait_until(lambda: len(web.workers()) == 1, LEAVE_WITHIN_S)
    assert crowd.failures() == []
    assert_all_are_stored(stack, crowd)


def test_a_release_takes_over_the_sockets_that_systemd_holds(stack: Stack, tmp_path: Path) -> None:
    with ExitStack() as cleanup:
        listeners = [
            cleanup.enter_context(socket.create_server(("127.0.0.1", free_port()), backlog=2048)) for _ in range(2)
        ]
        url, metrics_url = (f"http://127.0.0.1:{listener.getsockname()[1]}" for listener in listeners)
        old = cleanup.enter_context(running_master(stack, listeners, tmp_path / "old"))
        with Crowd(url, stack.company).running() as crowd:
            time.sleep(1)
            cleanup.enter_context(running_master(stack, listeners, tmp_path / "new"))
            old.terminate()
            assert old.wait(LEAVE_WITHIN_S) == 0
            assert b"agent_feedback_requests_total" in urlopen(f"{metrics_url}/metrics", timeout=20).read()
    assert crowd.failures() == []
    assert_all_are_stored(stack, crowd)


@contextmanager
def running_master(
    stack: Stack, listeners: Sequence[socket.socket], folder: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the web process of the Procfile on two sockets that listen, the second for metrics, once it is ready."""
    folder.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications, (folder / "log").open("wb") as log:
        notifications.bind(str(folder / "notify"))
        notifications.settimeout(START_TIMEOUT_S)
        descriptors = [listener.fileno() for listener in listeners]
        command = [sys.executable, "-c", PASS_SOCKETS, ",".join(map(str, descriptors)), *stack.commands["web"]]
        environ = {
            **stack.environ,
            "NOTIFY_SOCKET": str(folder / "notify"),
            "AGENT_FEEDBACK_METRICS_PORT": str(listeners[1].getsockname()[1]),
        }
        with subprocess.Popen(
            command, env=environ, cwd=ROOT, pass_fds=descriptors, stderr=log, start_new_session=True
        ) as process:
            try:
                assert notifications.recv(1024).startswith(b"READY=1")
                yield process
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


UNCLAIMED_BATCHES = "SELECT count(*) FROM (SELECT FROM telemetry_inbox FOR UPDATE SKIP LOCKED) AS unclaimed"
"""How many batches no job is persisting."""


def test_a_worker_that_is_told_to_end_finishes_its_job(stack: Stack) -> None:
    sender = Sender(stack.url, stack.company)
    worker = stack.supervisor.processes["worker"]
    # Another test may have killed the broker, which the worker is still pausing for.
    assert sender.send_batch() == 202
    wait_until(lambda: stack.query("SELECT 1 FROM interactions WHERE id = %s", sender.accepted_events[-1]), 120)
    with psycopg2.connect(stack.database_url) as connection, connection.cursor() as cursor:
        cursor.execute("LOCK TABLE interactions IN SHARE ROW EXCLUSIVE MODE")
        assert sender.send_batch() == 202
        wait_until(lambda: stack.value(UNCLAIMED_BATCHES) == 0, 60)
        worker.send_signal(signal.SIGTERM)
        time.sleep(1)
        assert worker.poll() is None
    connection.close()
    assert worker.wait(20) == 0
    assert stack.query("SELECT 1 FROM interactions WHERE id = %s", sender.accepted_events[-1])
    # The next worker has started before others use the stack.
    assert sender.send_batch() == 202
    wait_until(lambda: stack.query("SELECT 1 FROM interactions WHERE id = %s", sender.accepted_events[-1]), 30)
