"""Measure what `config/gunicorn.py` chooses its numbers from: `python -m bench.web_limits`."""

import argparse
import socket
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from bench.load import request, send
from tests.factories import NOTE
from tests.journeys.stack import Stack, running_stack
from tests.journeys.web import Web, running_web

THREADS = (2, 4, 8)
REVIEWS = 2_000
CLIENTS = 16

CROWD = 500
"""Connections that are opened at the same moment."""

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def main() -> None:
    """Measure threads, a burst of connections, and the memory of connections."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5, help="the middle one of so many counts")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder)) as stack, ExitStack() as webs:
        by_threads = {
            threads: webs.enter_context(running_web(stack, AGENT_FEEDBACK_POOL_SIZE=str(threads)))
            for threads in THREADS
        }
        web = by_threads[4]
        print(f"memory of a silent connection: {_memory_of_a_connection(web):.1f} KiB")
        bursts = [_open_at_once(web) for _ in range(rounds)]
        print(f"{CROWD} connections at once, each answered once: {statistics.median(bursts):.2f} s\n")
        # In turns: how fast the machine is changes within minutes.
        measured = [{threads: _measure(stack, web) for threads, web in by_threads.items()} for _ in range(rounds)]
    print(f"{'threads a process':<20}{'reviews a second':>18}{'p50':>12}{'p99':>12}")
    for threads in THREADS:
        rate, p50_ms, p99_ms = (
            statistics.median(values) for values in zip(*(each[threads] for each in measured), strict=True)
        )
        print(f"{threads:<20}{rate:>18.0f}{p50_ms:>9.2f} ms{p99_ms:>9.2f} ms")


def _measure(stack: Stack, web: Web) -> tuple[float, float, float]:
    """Return reviews a second, p50 and p99 in ms."""
    body = {"outcome": "success", "note": NOTE}
    requests = [request(web.url, "/api/v2/outcomes", stack.company.capability(), body) for _ in range(REVIEWS)]
    measured = send(web.url, requests, CLIENTS, 200)
    return REVIEWS / measured.seconds, measured.p50_ms, measured.p99_ms


def _open_at_once(web: Web) -> float:
    """Return the seconds until every connection of a burst has been answered."""
    address = urlsplit(web.url)
    began = time.perf_counter()
    connections = []
    for _ in range(CROWD):
        connection = socket.create_connection((address.hostname, address.port), timeout=30)
        connection.sendall(HEALTH)
        connections.append(connection)
    for connection in connections:
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
    seconds = time.perf_counter() - began
    for connection in connections:
        connection.close()
    return seconds


def _memory_of_a_connection(web: Web) -> float:
    """Return KiB of the web processes for each connection that has sent nothing."""
    address = urlsplit(web.url)
    before = _memory_kib(web)
    connections = [socket.create_connection((address.hostname, address.port), timeout=30) for _ in range(CROWD)]
    time.sleep(2)
    held = _memory_kib(web) - before
    for connection in connections:
        connection.close()
    return held / CROWD


def _memory_kib(web: Web) -> float:
    children = psutil.Process(web.process.pid).children()
    return sum(child.memory_info().rss for child in children) / 1024


if __name__ == "__main__":
    main()
