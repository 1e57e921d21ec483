"""A gateway in front of the service that fails as gateways and networks do: before a request arrives, or after."""

import http.client
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

LATE_S = 0.3
UPSTREAM_TIMEOUT_S = 10


class Fault(Enum):
    """What happens to one request."""

    CUT_BEFORE = "the connection is cut, and nothing arrives"
    CUT_AFTER = "the request arrives, and its answer is lost"
    LATE = "the connection is cut, and the request arrives later"
    ERROR_BEFORE = "a 503, and nothing arrives"
    ERROR_AFTER = "the request arrives, and is answered with a 504"
    LIMITED = "a 429"
    UNAUTHORIZED = "a 401"


_STATUSES = {Fault.ERROR_BEFORE: 503, Fault.ERROR_AFTER: 504, Fault.LIMITED: 429, Fault.UNAUTHORIZED: 401}
_FORWARDED = (Fault.CUT_AFTER, Fault.ERROR_AFTER)


class Gateway:
    """Forwards requests; the next ones meet `faults`, in order."""

    def __init__(self, service_url: str) -> None:
        self.upstream = urlsplit(service_url)
        self.faults: deque[Fault] = deque()
        self.is_open = threading.Event()
        """No request is dealt with while this is not set."""
        self.is_open.set()
        self.late_requests: list[threading.Thread] = []
        self.url = ""

    def forward(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        """Send a request to the service and return its answer."""
        connection = http.client.HTTPConnection(
            self.upstream.hostname or "", self.upstream.port, timeout=UPSTREAM_TIMEOUT_S
        )
        try:
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            return response.status, response.getheaders(), response.read()
        finally:
            connection.close()

    def forward_late(self, *request: Any) -> None:
        """Send a request to the service a while later."""

        def run() -> None:
            time.sleep(LATE_S)
            with suppress(OSError, http.client.HTTPException):
                self.forward(*request)

        self.late_requests.append(threading.Thread(target=run))
        self.late_requests[-1].start()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_POST(self) -> None:
        gateway = self.server.gateway
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = (self.path, dict(self.headers), body)
        gateway.is_open.wait(UPSTREAM_TIMEOUT_S)
        fault = gateway.faults.popleft() if gateway.faults else None
        if fault is Fault.LATE:
            gateway.forward_late(*request)
        answer: tuple[int, list[tuple[str, str]], bytes] | None = None
        if fault is None or fault in _FORWARDED:
            with suppress(OSError, http.client.HTTPException):
                answer = gateway.forward(*request)
        if fault in _STATUSES:
            answer = _STATUSES[fault], [], b"{}"
        if answer is None or fault is Fault.CUT_AFTER:
            self._hang_up()
        else:
            self._respond(*answer)

    def _respond(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        with suppress(OSError):
            self.send_response(status)
            for name, value in headers:
                if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def _hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: connections are cut on purpose."""


@contextmanager
def running_gateway(service_url: str) -> Iterator[Gateway]:
    """Run a gateway while the block runs."""
    gateway = Gateway(service_url)
    with _Server(gateway) as server:
        gateway.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield gateway
        finally:
            server.shutdown()
            thread.join()
