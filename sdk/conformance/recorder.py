"""A recording service: a real HTTP server that answers as a case tells it to, and remembers every request."""

import json
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from conformance.answers import healthy_answer

WAIT_TIMEOUT_S = 10
"""Much longer than anything takes that a case waits for."""


class Recorded(NamedTuple):
    """One request that came in; `at` is the recorder's clock in seconds."""

    at: float
    method: str
    target: str
    headers: dict[str, str]
    """By names in lower case."""
    body: bytes

    @property
    def content(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = self.content["events"]
        return events


class Reply(NamedTuple):
    """One answer: a status with a body, bytes that are no HTTP, or a connection that is cut."""

    status: int = 200
    content: Any = None
    """The body: bytes as they are, anything else as JSON."""
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0
    is_cut: bool = False
    """Close the connection instead of answering."""
    rubbish: bytes = b""
    """Sent instead of an HTTP response."""

    @property
    def body(self) -> bytes:
        if isinstance(self.content, bytes):
            return self.content
        return b"" if self.content is None else json.dumps(self.content).encode()


CUT = Reply(is_cut=True)
RUBBISH = Reply(rubbish=b"\x16\x03\x01 rubbish\r\n\r\n" * 8)


class Recorder:
    """What came in, and what goes out: a path's own replies in order, then its lasting one, then a healthy answer."""

    def __init__(self) -> None:
        self.url = ""
        self.decisions: dict[str, tuple[str, int]] = {}
        """The consent decisions of a healthy service: state and revision by subject."""
        self.items: list[dict[str, Any]] = []
        """The items of customer context of a healthy service."""
        self._lock = threading.Condition()
        self.reset()

    def reset(self) -> None:
        """Forget what came in and every reply; open the gate."""
        with self._lock:
            self._requests: list[Recorded] = []
            self._replies: dict[str, list[Reply]] = defaultdict(list)
            self._lasting: dict[str, Reply] = {}
            self._closed_paths: set[str] = set()
            self._open: dict[str, int] = defaultdict(int)
            self.peaks: dict[str, int] = defaultdict(int)
            """The most requests that were open at once, by path."""
            self.decisions.clear()
            self.items.clear()
            self._lock.notify_all()

    def script(self, path: str, *replies: Reply) -> None:
        """Answer the next requests of a path with these."""
        with self._lock:
            self._replies[path].extend(replies)

    def always(self, path: str, reply: Reply) -> None:
        """Answer every request of a path, or of all paths for `*`, with this when nothing is scripted."""
        with self._lock:
            self._lasting[path] = reply

    @contextmanager
    def closed(self, path: str) -> Iterator[None]:
        """Let no answer of a path go out while the block runs."""
        with self._lock:
            self._closed_paths.add(path)
        try:
            yield
        finally:
            with self._lock:
                self._closed_paths.discard(path)
                self._lock.notify_all()

    def of(self, path: str) -> list[Recorded]:
        """Return the requests of a path, in the order in which they came."""
        with self._lock:
            return [request for request in self._requests if request.target.split("?")[0] == path]

    def all(self) -> list[Recorded]:
        """Return all requests."""
        with self._lock:
            return list(self._requests)

    def wait_for(self, path: str, count: int = 1, timeout_s: float = WAIT_TIMEOUT_S) -> list[Recorded]:
        """Wait until a path has had at least so many requests, and return them."""
        wait_until(lambda: len(self.of(path)) >= count, timeout_s, lambda: f"{len(self.of(path))} of {count} {path}")
        return self.of(path)

    def answer(self, request: Recorded) -> Reply:
        """Record a request and return its answer, once the gate is open."""
        path = request.target.split("?")[0]
        with self._lock:
            self._requests.append(request)
            self._open[path] += 1
            self.peaks[path] = max(self.peaks[path], self._open[path])
            replies, lasting = self._replies[path], self._lasting.get(path) or self._lasting.get("*")
            reply = replies.pop(0) if replies else lasting
            self._lock.wait_for(lambda: path not in self._closed_paths, 30)
        if reply is None:
            status, content = healthy_answer(self, request)
            reply = Reply(status, content)
        if reply.delay_s:
            time.sleep(reply.delay_s)
        with self._lock:
            self._open[path] -= 1
        return reply


def wait_until(
    is_true: Callable[[], object], timeout_s: float = WAIT_TIMEOUT_S, describe: Callable[[], object] = str
) -> None:
    """Wait until something holds, or fail."""
    deadline = time.monotonic() + timeout_s
    while not is_true():
        assert time.monotonic() < deadline, f"not so within {timeout_s} seconds: {describe()}"
        time.sleep(0.005)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: some cases hang up on purpose."""


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.recorder.answer(Recorded(time.monotonic(), self.command, self.path, headers, body))
        with suppress(OSError):
            self._send(reply)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = answer

    def _send(self, reply: Reply) -> None:
        if reply.is_cut or reply.rubbish:
            self.close_connection = True
            self.wfile.write(reply.rubbish)
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(reply.status)
        names = {name.lower() for name, _value in reply.headers}
        if "content-type" not in names:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def recording() -> Iterator[Recorder]:
    """Run a recorder while the block runs."""
    recorder = Recorder()
    with _Server(recorder) as server:
        recorder.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield recorder
        finally:
            recorder.reset()
            server.shutdown()
            thread.join()
