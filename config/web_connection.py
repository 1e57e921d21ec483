"""A client's connection, whose bytes are buffered in both directions, so that no thread ever waits for the client."""

import enum
import io
import socket
from typing import Any

from gunicorn.http import get_parser
from gunicorn.workers.gthread import TConn

from config.web_framing import RequestBuffer

RECEIVE_BYTES = 64 * 1024
"""As much is received at once, after which other connections have their turn."""

SEND_BYTES = 256 * 1024


class Phase(enum.Enum):
    """What the main loop waits for."""

    IDLE = enum.auto()
    """The first byte of a request."""
    READING = enum.auto()
    """The rest of a request."""
    SENDING = enum.auto()
    """The client, which has to take its response."""
    CLOSING = enum.auto()
    """The client, which has to read the response and close: a reset at once could destroy it."""


class BufferedSocket:
    """What gunicorn takes for a socket: reads end after one request, and writes are kept until they are flushed.

    Neither waits. The thread that handles the request uses it, or else the main loop, never both.
    """

    def __init__(self, client: socket.socket) -> None:
        client.setblocking(False)
        self._client = client
        self._request = io.BytesIO()
        self.unsent = bytearray()

    def fileno(self) -> int:
        """Return the file descriptor, for the poller."""
        return self._client.fileno()

    def receive(self) -> bytes | None:
        """Return bytes from the client, empty after its last, None if there are none at present."""
        try:
            return self._client.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return None

    def offer(self, request: bytes) -> None:
        """Set what the parser reads, at the end of which the stream ends for it."""
        self._request = io.BytesIO(request)

    def flush(self) -> None:
        """Send as much as the client takes at present."""
        try:
            while self.unsent:
                with memoryview(self.unsent) as view:
                    sent = self._client.send(view[:SEND_BYTES])
                del self.unsent[:sent]
        except BlockingIOError:
            return

    def recv(self, size: int) -> bytes:
        """Return the next bytes of the request."""
        return self._request.read(size)

    def sendall(self, data: bytes) -> None:
        """Keep the bytes until they are flushed: head and body leave together."""
        self.unsent += data
        if len(self.unsent) > SEND_BYTES:
            self.flush()

    def send(self, data: bytes) -> int:
        """Ignore the bytes: gunicorn sends `100 Continue` by it, which the main loop has done if it was needed."""
        return len(data)

    def gettimeout(self) -> float:
        """Return the time-out of a socket that does not block."""
        return 0.0

    def settimeout(self, timeout_s: float | None) -> None:
        """Ignore the time-out: nothing here waits."""

    def setblocking(self, is_blocking: bool) -> None:
        """Ignore what is asked for: the client's socket never blocks."""

    def shutdown(self, how: int) -> None:
        """Ignore the wish of gunicorn to end a broken response: the main loop closes what it polls."""

    def close(self) -> None:
        """Ignore the wish, as above."""

    def end(self) -> None:
        """Tell the client that nothing more is sent."""
        self._client.shutdown(socket.SHUT_WR)

    def close_client(self) -> None:
        """Close the connection."""
        self._client.close()


class Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A connection with the bytes of its next request; the main loop or the thread that handles a request owns it."""

    sock: BufferedSocket
    parser: Any
    timeout: float
    """When the main loop stops waiting, by the monotonic clock."""

    def __init__(self, cfg: Any, client: socket.socket, address: Any, server: Any) -> None:
        super().__init__(cfg, BufferedSocket(client), address, server)
        self.phase = Phase.IDLE
        self.event = 0
        """The event of the socket that the poller reports."""
        self.request = RequestBuffer()
        self.is_whole = True
        """Whether the request that a thread was given is whole; the connection cannot be reused otherwise."""
        self.is_kept = False
        """Whether another request may follow the response that is being sent."""
        self.buffered_bytes = 0
        """What the connection counts towards the limit of the process."""
        self.discarded_bytes = 0
        self.data_ready = True

    def init(self) -> None:
        """Make the parser, once."""
        if self.parser is None:
            self.initialized = True
            self.parser = get_parser(self.cfg, self.sock, self.client)

    def close(self, graceful: bool = False) -> None:
        """Close the connection at once."""
        self.sock.close_client()

    def has_surplus(self) -> bool:
        """Tell whether the parser has left bytes, which means that it found another end of the request."""
        return bool(self.parser.unreader.buf.getvalue() or self.sock.recv(1))
