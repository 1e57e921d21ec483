"""Many clients that hold a server up: silent ones, ones that drip, and ones that do not read."""

import selectors
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import urlsplit

DRIP_INTERVAL_S = 0.5
UNREAD_BODY_BYTES = 70_000

REVIEW_HEAD = "POST /api/v2/outcomes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


class Kind(Enum):
    """What a client sends at first, what it goes on with byte by byte, and how many there are."""

    IDLE = (b"", b"", 200)
    HEAD = (REVIEW_HEAD.encode() + b"X-Slow: ", b"x", 200)
    BODY = (f"{REVIEW_HEAD}Content-Length: 1000\r\n\r\n".encode() + b'{"outcome":', b" ", 64)
    UNREAD = (f"{REVIEW_HEAD}Content-Length: {UNREAD_BODY_BYTES}\r\n\r\n".encode() + b" " * UNREAD_BODY_BYTES, b"", 64)

    def __init__(self, start: bytes, drip: bytes, count: int) -> None:
        self.start, self.drip, self.count = start, drip, count


@dataclass(eq=False)
class SlowClient:
    """One slow client."""

    kind: Kind
    connection: socket.socket
    opened_at: float
    unsent: bytes
    answer: bytes = b""

    @property
    def status(self) -> int:
        """The status of the answer; 0 if the connection was closed without one."""
        return int(self.answer.split(b" ", 2)[1]) if self.answer.startswith(b"HTTP/1.1 ") else 0


@dataclass
class SlowClients:
    """Many slow clients; those that the server cuts off come back if `is_reconnecting`."""

    url: str
    address: str = "127.0.0.1"
    """Where they come from."""
    tls: ssl.SSLContext | None = None
    is_reconnecting: bool = False
    cut: list[tuple[Kind, int, float]] = field(default_factory=list)
    """Kind, status and age in seconds of each client that the server has cut off."""
    clients: set[SlowClient] = field(default_factory=set)
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _stop_event: threading.Event = field(default_factory=threading.Event)

    def statuses(self) -> Counter[tuple[Kind, int]]:
        """Count who was cut off how."""
        return Counter((kind, status) for kind, status, _ in self.cut)

    @contextmanager
    def running(self) -> Iterator["SlowClients"]:
        """Connect all of them, and drip in the background while the block runs."""
        thread = threading.Thread(target=self._run, daemon=True)
        try:
            for kind in Kind:
                for _ in range(kind.count):
                    self._connect(kind)
            thread.start()
            yield self
        finally:
            self._stop_event.set()
            if thread.ident:
                thread.join()
            for client in self.clients:
                client.connection.close()
            self._selector.close()

    def _connect(self, kind: Kind) -> None:
        parts = urlsplit(self.url)
        connection = socket.create_connection((parts.hostname, parts.port), 10, (self.address, 0))
        if self.tls:
            connection = self.tls.wrap_socket(connection, server_hostname=parts.hostname)
        connection.setblocking(False)
        client = SlowClient(kind, connection, time.monotonic(), kind.start)
        self.clients.add(client)
        # One that does not read is not looked at again.
        if kind is not Kind.UNREAD:
            self._selector.register(connection, selectors.EVENT_READ, client)
        self._send(client)

    def _run(self) -> None:
        dripped_at = 0.0
        while not self._stop_event.is_set():
            for key, _ in self._selector.select(0.1):
                self._read(key.data)
            if time.monotonic() - dripped_at >= DRIP_INTERVAL_S:
                dripped_at = time.monotonic()
                for client in list(self.clients):
                    client.unsent = client.unsent or client.kind.drip
                    self._send(client)

    def _send(self, client: SlowClient) -> None:
        # What the server thinks of it is seen when it is read.
        with suppress(BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError, OSError):
            while client.unsent:
                client.unsent = client.unsent[client.connection.send(client.unsent) :]

    def _read(self, client: SlowClient) -> None:
        try:
            received = client.connection.recv(65536)
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except OSError:
            received = b""
        client.answer += received
        if received:
            return
        self._selector.unregister(client.connection)
        client.connection.close()
        self.clients.remove(client)
        self.cut.append((client.kind, client.status, time.monotonic() - client.opened_at))
        if self.is_reconnecting and not self._stop_event.is_set():
            self._connect(client.kind)
