"""Processor time of the service's processes, and the limits that it is compared with."""

import multiprocessing
import os
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any

import psutil
import psycopg2
from agent_feedback.interaction_id import new_interaction_id
from psycopg2.extras import execute_values, register_uuid

from bench.bare import ENVIRONMENT_ID as BARE_ENVIRONMENT_ID
from tests.conftest import ROOT
from tests.journeys.stack import BIN, Stack, free_port, wait_until


def cpu_s(*roots: int | None) -> float:
    """Return the processor seconds of these processes and all below them, ended ones included."""
    total = 0.0
    for root in roots:
        parent = psutil.Process(root)
        times = parent.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
        for child in parent.children(recursive=True):
            try:
                times = child.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += times.user + times.system
    return total


def service_cpu_s(stack: Stack) -> float:
    """Return the processor seconds of every process of the service: web, worker, beat, PostgreSQL and Valkey."""
    assert stack.postgres.process
    assert stack.valkey.process
    pids = [process.pid for process in stack.supervisor.processes.values()]
    return cpu_s(*pids, stack.postgres.process.pid, stack.valkey.process.pid)


@contextmanager
def bare_flask(stack: Stack) -> Iterator[tuple[str, int]]:
    """Run the bare endpoints under the same gunicorn; yields their URL and process id."""
    port = free_port()
    environ = {**stack.environ, "PORT": str(port)}
    command = [BIN / "gunicorn", "--config", "config/gunicorn.py", "bench.bare:app"]
    with subprocess.Popen(command, env=environ, cwd=ROOT) as process:
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: _is_open(port), 20)
        time.sleep(1)
        try:
            yield url, process.pid
        finally:
            process.terminate()


def _is_open(port: int) -> bool:
    return any(c.status == "LISTEN" and c.laddr.port == port for c in psutil.net_connections("tcp4"))


COLUMNS = (
    "environment_id, id, received_at, surface, operation, classification, occurred_at, status_code, duration_ms, "
    "customer_ref, session_ref, session_source"
)


def raw_rows(number: int) -> list[tuple[Any, ...]]:
    """Return rows as telemetry makes them."""
    now, environment_id = datetime.now(UTC), uuid.uuid4()
    return [
        (
            environment_id,
            uuid.UUID(new_interaction_id()),
            now,
            "http_json",
            f"/orders/:id/step-{n % 20}",
            "unclassified",
            now,
            200,
            12.5,
            f"account_{n % 500}",
            f"visit_{n % 1000}",
            "customer",
        )
        for n in range(number)
    ]


def write_raw(url: str, rows: list[tuple[Any, ...]], page_size: int) -> None:
    """Insert rows with nothing but psycopg2, one commit for each page."""
    register_uuid()
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        for start in range(0, len(rows), page_size):
            statement = f"INSERT INTO interactions ({COLUMNS}) VALUES %s"
            execute_values(cursor, statement, rows[start : start + page_size], page_size=page_size)
            connection.commit()


def raw_insert(stack: Stack, number: int, writers: int, page_size: int = 50) -> tuple[float, float]:
    """Insert rows by raw psycopg2; returns rows a second, and processor microseconds a row."""
    url = stack.database_url
    rows = [raw_rows(number // writers) for _ in range(writers)]
    assert stack.postgres.process
    start_cpu_s = cpu_s(stack.postgres.process.pid) + own_cpu_s()
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=write_raw, args=(url, part, page_size)) for part in rows]
    started_at = time.perf_counter()
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    seconds = time.perf_counter() - started_at
    used_cpu_s = cpu_s(stack.postgres.process.pid) + own_cpu_s() - start_cpu_s
    return number / seconds, used_cpu_s / number * 1e6


def own_cpu_s() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def remove_bare_reviews(stack: Stack) -> None:
    """Remove what the bare endpoint has stored, so that no job works on it while the service is measured."""
    with closing(psycopg2.connect(stack.database_url)) as connection, connection.cursor() as cursor:
        for table in ("promotions", "reviews", "interactions", "interaction_changes", "interaction_days"):
            cursor.execute(f"DELETE FROM {table} WHERE environment_id = %s", (str(BARE_ENVIRONMENT_ID),))
        connection.commit()
