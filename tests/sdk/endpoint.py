"""A real HTTP server in place of the service, which answers as a test tells it to."""

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from agent_feedback.telemetry.queue import TelemetryQueue

COMPANY_KEY = "af_company_0123456789abcdef0123456789abcdef_conformance_company_secret_000000000000000001"
KEY = "af_live_0123456789abcdef0123456789abcdef_conformance_secret_0123456789abcdef"

HANG_UP = 0
"""In place of a status: close the connection without an answer."""


class ReceivedRequest(NamedTuple):
    """One request that came in."""

    at: float
    path: str
    headers: dict[str, str]
    body: bytes
    method: str = "POST"

    @property
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.body)
        return content

    @property
    def events(self) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = json.loads(self.body)["events"]
        return events


class Reply(NamedTuple):
    """One answer."""

    status: int = 202
    body: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = ()
    drip_s: float = 0
    """Seconds before each byte of the answer, if it is to come one by one."""


class Endpoint:
    """Answers from `replies` in order, and then with `default_reply`."""

    def __init__(self, *replies: Reply, default_reply: Reply | None = None) -> None:
        self.replies, self.default_reply = list(replies), default_reply or Reply()
        self.requests: list[ReceivedRequest] = []
        self.gate = threading.Event()
        """No answer goes out while this is not set."""
        self.gate.set()
        self.connections = 0
        self.url = ""

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for request in self.requests for event in request.events]

    @property
    def numbers(self) -> list[int]:
        return [event["number"] for event in self.events]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: some tests hang up on purpose."""


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.server.endpoint.connections += 1

    def do_POST(self) -> None:
        endpoint = self.server.endpoint
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        endpoint.requests.append(ReceivedRequest(time.monotonic(), self.path, dict(self.headers), body, self.command))
        endpoint.gate.wait(10)
        reply = endpoint.replies.pop(0) if endpoint.replies else endpoint.default_reply
        if reply.status == HANG_UP:
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(reply.status)
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers:
            self.send_header(name, value)
        if reply.drip_s:
            self._drip(reply)
            return
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(reply.body)

    def _drip(self, reply: Reply) -> None:
        self.close_connection = True
        head = b"".join(self._headers_buffer)
        with suppress(OSError):
            for byte in head + b"\r\n" + reply.body:
                time.sleep(reply.drip_s)
                self.wfile.write(bytes([byte]))

    do_GET = do_PUT = do_DELETE = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(endpoint: Endpoint, tls: ssl.SSLContext | None = None) -> Iterator[Endpoint]:
    """Run the server while the block runs."""
    with _Server(endpoint) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        endpoint.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield endpoint
        finally:
            endpoint.gate.set()
            server.shutdown()
            thread.join()


def closed_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def put(queue: TelemetryQueue, *numbers: int) -> None:
    """Put events that are told apart by a number."""
    for number in numbers:
        queue.put({"number": number})


def wait_until(is_true: Callable[[], object], timeout_s: float = 5) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_true():
        assert time.monotonic() < deadline, f"not so within {timeout_s} seconds"
        time.sleep(0.005)
