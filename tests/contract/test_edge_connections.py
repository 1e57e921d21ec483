"""How a real gunicorn treats connections: several requests, late ones, and clients that do not read."""

import json
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.client import parse_headers
from urllib.parse import urlsplit

import pytest

from config.body_limits import AGENT_BODY_BYTES, BATCH_BODY_BYTES
from config.web_worker import MAX_BUFFERED_BYTES
from tests.contract.test_edge import FULL_REVIEW, REVIEW, chunked, post
from tests.journeys.stack import Stack, wait_until
from tests.journeys.web import Web, running_web

DEADLINE_S = 2
MARGIN_S = 3
"""The main loop looks at deadlines once a second, and the machine may be busy."""

MAX_CONNECTIONS = 100

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
DOCUMENT = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def web(stack: Stack) -> Iterator[Web]:
    """A web process of one thread: whoever occupies it keeps everybody out."""
    with running_web(
        stack,
        WEB_CONCURRENCY="1",
        AGENT_FEEDBACK_POOL_SIZE="1",
        AGENT_FEEDBACK_REQUEST_DEADLINE_S=str(DEADLINE_S),
        GUNICORN_CMD_ARGS=f"--worker-connections {MAX_CONNECTIONS}",
    ) as web:
        yield web


def connect(web: Web, buffer_bytes: int = 0) -> socket.socket:
    address = urlsplit(web.url)
    connection = socket.socket()
    if buffer_bytes:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
    connection.settimeout(15)
    connection.connect((address.hostname, address.port))
    return connection


def review(stack: Stack, *lines: str) -> bytes:
    return post("/api/v2/outcomes", stack.company.capability(), *lines)


def read_answers(connection: socket.socket, count: int) -> list[tuple[int, bytes]]:
    """Return status and body of as many answers."""
    answers = []
    with connection.makefile("rb") as file:
        for _ in range(count):
            status = int(file.readline().split()[1])
            answers.append((status, file.read(int(parse_headers(file)["Content-Length"]))))
    return answers


def rest(connection: socket.socket) -> bytes:
    """Return everything until the server closes."""
    content = b""
    while received := connection.recv(65536):
        content += received
    return content


def assert_answers(web: Web) -> None:
    """Assert that the only thread is free."""
    began = time.monotonic()
    with connect(web) as connection:
        connection.sendall(GET)
        assert read_answers(connection, 1)[0][0] == 200
    assert time.monotonic() - began < DEADLINE_S / 2


def test_a_request_may_arrive_in_pieces(web: Web, stack: Stack) -> None:
    for content in (
        review(stack, f"Content-Length: {len(REVIEW)}") + REVIEW,
        review(stack, "Transfer-Encoding: chunked") + chunked(REVIEW[:5], REVIEW[5:]),
    ):
        with connect(web) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for start in range(0, len(content), 20):
                connection.sendall(content[start : start + 20])
                time.sleep(0.005)
            assert read_answers(connection, 1)[0][0] == 200


def test_pipelined_requests_are_answered_in_order(web: Web, stack: Stack) -> None:
    with connect(web) as connection:
        first = review(stack, f"Content-Length: {len(REVIEW)}") + REVIEW
        second = review(stack, "Transfer-Encoding: chunked") + chunked(REVIEW)
        connection.sendall(first + GET + second + b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n" + GET[:-1])
        assert [status for status, _ in read_answers(connection, 4)] == [200, 200, 200, 404]
        connection.sendall(GET[-1:])
        assert read_answers(connection, 1)[0][0] == 200


@pytest.mark.parametrize("head", [b"GET /healthz HTTP/1.0\r\n\r\n", GET.replace(b"Host", b"Connection: close\r\nHost")])
def test_a_client_that_wants_the_connection_closed_is_obeyed(web: Web, head: bytes) -> None:
    with connect(web) as connection:
        connection.sendall(head)
        answer = rest(connection)
    assert answer.startswith(b"HTTP/1.")
    assert b"\r\nConnection: close\r\n" in answer


def test_a_client_that_expects_100_is_told_to_go_on(web: Web, stack: Stack) -> None:
    with connect(web) as connection:
        connection.sendall(review(stack, f"Content-Length: {len(REVIEW)}", "Expect: 100-continue"))
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(REVIEW)
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")


def test_a_client_that_expects_100_is_told_at_once_that_its_body_is_too_large(web: Web, stack: Stack) -> None:
    with connect(web) as connection:
        connection.sendall(review(stack, f"Content-Length: {AGENT_BODY_BYTES + 1}", "Expect: 100-continue"))
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


def test_what_follows_a_body_that_was_not_read_is_no_request(web: Web, stack: Stack) -> None:
    with connect(web) as connection:
        connection.sendall(review(stack, f"Content-Length: {AGENT_BODY_BYTES + 1}") + GET * 10)
        assert rest(connection).count(b"HTTP/1.1 ") == 1


def test_an_answer_to_a_body_that_is_too_large_survives_the_rest_of_it(web: Web, stack: Stack) -> None:
    with connect(web) as connection:
        connection.sendall(review(stack, "Content-Length: 2000000") + b" " * 70_000)
        time.sleep(0.3)
        connection.sendall(b" " * 1_000_000)
        assert rest(connection).startswith(b"HTTP/1.1 413 ")
    assert_answers(web)


@pytest.mark.parametrize("parts", ["head", "body", "chunks"])
def test_a_late_request_is_answered_with_408_however_it_drips(web: Web, stack: Stack, parts: str) -> None:
    start = {
        "head": GET[:-2] + b"X-Slow: ",
        "body": review(stack, "Content-Length: 10000") + b"{",
        "chunks": review(stack, "Transfer-Encoding: chunked") + b"1\r\n{\r\n1000\r\n",
    }[parts]
    with connect(web) as connection:
        began = time.monotonic()
        connection.sendall(start)
        connection.settimeout(0.2)
        answer = b""
        while not answer and time.monotonic() - began < DEADLINE_S + MARGIN_S:
            connection.sendall(b"x")
            try:
                answer = connection.recv(65536)
            except TimeoutError:
                assert_answers(web)
        assert time.monotonic() - began >= DEADLINE_S
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nConnection: close\r\n" in head
    assert json.loads(body).keys() == {"error", "code", "requestId"}
    assert json.loads(body)["code"] == "request_timeout"
    logs = stack.log.with_name(f"web-{urlsplit(web.url).port}.log").read_text()
    lines = [json.loads(line) for line in logs.splitlines() if json.loads(body)["requestId"] in line]
    assert [line["status"] for line in lines] == [408]


def test_a_silent_connection_is_closed_without_an_answer(web: Web) -> None:
    with connect(web) as new, connect(web) as spent:
        spent.sendall(GET + b"\r\n")
        read_answers(spent, 1)
        began = time.monotonic()
        assert rest(new) == b""
        assert rest(spent) == b""
        assert DEADLINE_S - 1 < time.monotonic() - began < DEADLINE_S + MARGIN_S


def test_a_client_that_does_not_read_occupies_no_thread_and_loses_nothing(web: Web) -> None:
    count = 60
    with connect(web) as reader:
        reader.sendall(DOCUMENT)
        ((status, document),) = read_answers(reader, 1)
    assert status == 200
    with connect(web, buffer_bytes=4096) as deaf:
        # More than the buffers of both kernels take.
        assert count * len(document) > 5_000_000
        deaf.sendall(DOCUMENT * count)
        for _ in range(5):
            assert_answers(web)
            time.sleep(0.1)
        answers = read_answers(deaf, count)
    assert answers == [(200, document)] * count


def test_a_crowd_of_silent_connections_keeps_nobody_out(web: Web) -> None:
    with ExitStack() as exit_stack:
        silent = [exit_stack.enter_context(connect(web)) for _ in range(MAX_CONNECTIONS * 2)]
        assert_answers(web)
        # The oldest have made room.
        assert rest(silent[0]) == b""
        silent[-1].sendall(GET)
        assert read_answers(silent[-1], 1)[0][0] == 200


def test_what_a_process_holds_for_its_clients_is_bounded(web: Web, stack: Stack) -> None:
    head = post("/api/v2/telemetry/batches", stack.company.product_key, f"Content-Length: {BATCH_BODY_BYTES}")
    unfinished = head + b" " * (BATCH_BODY_BYTES - 1)
    too_many = MAX_BUFFERED_BYTES // BATCH_BODY_BYTES + 8
    with ExitStack() as exit_stack:
        clients = [exit_stack.enter_context(connect(web)) for _ in range(too_many)]
        for client in clients:
            # One that is answered before it has sent everything need not finish.
            with suppress(ConnectionError):
                client.sendall(unfinished)
        assert_answers(web)
        wait_until(lambda: select.select(clients, [], [], 0)[0], DEADLINE_S)
        answer = select.select(clients, [], [], 0)[0][0].recv(65536)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b'"code":"unavailable"' in answer
    assert b"\r\nRetry-After: 1\r\n" in answer


def test_a_stopping_process_answers_a_request_that_was_arriving(stack: Stack) -> None:
    content = review(stack, f"Content-Length: {len(FULL_REVIEW)}") + FULL_REVIEW
    with running_web(stack, WEB_CONCURRENCY="1") as web, connect(web) as idle, connect(web) as late:
        idle.sendall(GET)
        read_answers(idle, 1)
        late.sendall(content[:1000])
        assert_answers(web)
        web.process.terminate()
        time.sleep(0.5)
        late.sendall(content[1000:])
        answer = rest(late)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"\r\nConnection: close\r\n" in answer
        assert rest(idle) == b""
        assert web.process.wait(10) == 0
