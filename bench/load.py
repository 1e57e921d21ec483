"""A load generator with little overhead: prepared requests over keep-alive connections, in one process for each run."""

import json
import socket
import ssl
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from multiprocessing import get_context
from typing import NamedTuple
from urllib.parse import urlsplit


class Measurement(NamedTuple):
    """The duration, the latencies and the number of requests of one run."""

    seconds: float
    p50_ms: float
    p99_ms: float
    count: int


def request(url: str, path: str, token: str | None, body: object) -> bytes:
    """Return the bytes of a POST; without a body if that is None."""
    content = b"" if body is None else json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nContent-Length: {len(content)}\r\n"
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    return head.encode() + b"Content-Type: application/json\r\n\r\n" + content


def send(
    url: str,
    requests: Sequence[bytes],
    clients: int,
    expected_status: int,
    tls: ssl.SSLContext | None = None,
    is_persistent: bool = True,
) -> Measurement:
    """Send the requests by this many clients and measure; every answer must have the expected status.

    A client keeps its connection, or else opens one for each request.
    """
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    connect = partial(_connect, url, tls)
    process = context.Process(target=_run, args=(sender, connect, requests, clients, expected_status, is_persistent))
    process.start()
    sender.close()
    try:
        seconds, latencies = receiver.recv()
    except EOFError:
        raise SystemExit("a request of the benchmark was not answered as expected") from None
    process.join()
    sorted_latencies = sorted(latencies)
    return Measurement(
        seconds,
        statistics.median(sorted_latencies) * 1e3,
        sorted_latencies[int(len(sorted_latencies) * 0.99)] * 1e3,
        len(sorted_latencies),
    )


def _connect(url, tls):
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port), timeout=30)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return tls.wrap_socket(connection, server_hostname=parts.hostname) if tls else connection


def _run(sender, connect, requests, clients, expected_status, is_persistent):
    latencies: list[float] = []
    failures: list[str] = []
    started_at = time.perf_counter()
    threads = [
        threading.Thread(
            target=_run_client,
            args=(failures, connect, requests[number::clients], expected_status, is_persistent, latencies),
        )
        for number in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        print(failures[0], file=sys.stderr)
        sys.exit(1)
    sender.send((time.perf_counter() - started_at, latencies))


def _run_client(failures, *arguments):
    try:
        _client(failures, *arguments)
    except OSError as error:
        failures.append(repr(error))


def _client(failures, connect, requests, expected_status, is_persistent, latencies):
    status = f" {expected_status} ".encode()
    connection = connect() if is_persistent else None
    for request in requests:
        started_at = time.perf_counter()
        connection = connection or connect()
        connection.sendall(request)
        try:
            answer = _read(connection)
        except OSError as error:
            failures.append(str(error))
            return
        latencies.append(time.perf_counter() - started_at)
        if status not in answer[:20]:
            failures.append(answer[:300].decode(errors="replace"))
            return
        if not is_persistent:
            connection.close()
            connection = None
    if connection:
        connection.close()


def _read(connection: socket.socket) -> bytes:
    answer = _receive(connection)
    while b"\r\n\r\n" not in answer:
        answer += _receive(connection)
    head, _, body = answer.partition(b"\r\n\r\n")
    lower_head = head.lower()
    start = lower_head.index(b"content-length:") + 15
    length = int(lower_head[start:].split(b"\r\n", 1)[0])
    while len(body) < length:
        body += _receive(connection)
    return head


def _receive(connection: socket.socket) -> bytes:
    content = connection.recv(65536)
    if not content:
        raise ConnectionError("the connection was closed within an answer")
    return content
