"""gunicorn's threaded worker, with a main loop that buffers requests and responses.

A thread is occupied only by a request that has arrived, and never waits for a client. The main loop receives requests
until they are whole, within one deadline, and sends what a client does not take at once.
"""

import errno
import mmap
import os
import selectors
import signal
import socket
import time
from functools import partial
from typing import Any

from gunicorn.http import errors
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, ThreadWorker

from config.settings import settings_or_exit
from config.web_closing import Wsgi, closing
from config.web_connection import Connection, Phase
from config.web_framing import Extent
from config.web_rejections import NOT_HTTP, OVERLOADED, REQUEST_TIMEOUT, Rejection, find_rejection, reject

SEND_TIMEOUT_S = 60
"""How long a client may take to read a response, which occupies memory meanwhile but no thread."""

CLOSE_TIMEOUT_S = 2
MAX_DISCARDED_BYTES = 4 * 1024 * 1024
"""For so long, and for so many bytes of a body that nobody reads, a client may go on before it is cut off."""

MAX_BUFFERED_BYTES = 64 * 1024 * 1024
"""What all connections of a process may hold together; beyond it the one that holds most is given up."""

SWEEP_INTERVAL_S = 0.5

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class WebWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A threaded worker that buffers, answers in JSON, and closes a connection when the app asks for it.

    `waiting` has the connections whose client the main loop waits for; every other one belongs to a thread.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting: set[Connection] = set()
        self.buffered_bytes = 0
        self.swept_at = 0.0
        self.request_deadline_s = 0
        # Made before the fork, so that the master sees what the worker writes.
        self._leaving = mmap.mmap(-1, 1)

    @property
    def is_leaving(self) -> bool:
        """Whether this worker has answered as many requests as it may, and has asked the master for its successor."""
        return self._leaving[0] == 1

    def load_wsgi(self) -> None:
        """Load the app behind `closing`."""
        super().load_wsgi()
        self.wsgi: Wsgi = closing(self.wsgi)
        self.request_deadline_s = settings_or_exit().request_deadline_s

    def handle(self, conn: Connection) -> bool:
        """Handle a request in a thread; returns whether the connection can be reused."""
        is_kept = bool(super().handle(conn))
        return is_kept and conn.is_whole and not conn.has_surplus()

    def handle_request(self, req: Any, conn: Connection) -> bool:
        """Handle a parsed request and send the response; a request whose end is unknown ends the connection."""
        if not conn.is_whole:
            req.force_close()
        is_kept = bool(super().handle_request(req, conn))
        conn.sock.flush()
        return is_kept

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        """Answer a request that cannot be parsed in the shape of every other error."""
        rejection = find_rejection(exc)
        if rejection is None:
            super().handle_error(req, client, addr, exc)
        else:
            client.sendall(reject(rejection))

    # Everything below runs in the main loop.

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection, and wait for its first request."""
        try:
            client, address = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self._make_room()
            elif error.errno not in (errno.EAGAIN, errno.ECONNABORTED):
                raise
            return
        connection = Connection(self.cfg, client, address, listener.getsockname())
        self.nr_conns += 1
        if self.nr_conns >= self.worker_connections:
            self._make_room()
        self._wait(connection, Phase.IDLE, self.request_deadline_s)
        # Most clients have sent their request by now.
        self._on_readable(connection)

    def finish_request(self, conn: Connection, fs: Any) -> None:
        """Take a connection back from the thread that has handled its request."""
        try:
            conn.is_kept = not fs.cancelled() and fs.result()
        except Exception:  # the client has gone; gunicorn has logged what else there is
            self._drop(conn)
        else:
            self._send_rest(conn)

    def murder_keepalived(self, force: bool = False) -> None:
        """End the wait for the clients whose time is up, or for all of them; gunicorn calls this in every turn."""
        self._bound_buffers()
        now = time.monotonic()
        if now - self.swept_at < SWEEP_INTERVAL_S and not force:
            return
        self.swept_at = now
        for connection in [candidate for candidate in self.waiting if force or candidate.timeout <= now]:
            if connection.phase is Phase.READING and not connection.request.is_blank() and not force:
                self._reject(connection, REQUEST_TIMEOUT)
            elif force or not self._begins_late(connection):
                self._drop(connection)

    def _begins_late(self, connection: Connection) -> bool:
        """Receive what an idle client has sent by the end of its time; tells whether that was something."""
        if connection.phase is not Phase.IDLE:
            return False
        self._on_readable(connection)
        return connection not in self.waiting or connection.phase is not Phase.IDLE

    def _cap_keepalive(self, deadline: float) -> None:
        """Close idle connections by `deadline`; gunicorn calls this once, when it stops accepting for good."""
        if self.nr >= self.max_requests:
            self._leaving[0] = 1
            os.kill(self.ppid, signal.SIGTTIN)
        for connection in self.waiting:
            if connection.phase is Phase.IDLE:
                connection.timeout = min(connection.timeout, deadline)

    def _on_event(self, connection: Connection, _socket: Any) -> None:
        if connection not in self.waiting:
            # A thread has it, and what its client sends meanwhile waits in the kernel.
            self._watch(connection, 0)
        elif connection.phase is Phase.SENDING:
            self._send_rest(connection)
        else:
            self._on_readable(connection)

    def _on_readable(self, connection: Connection) -> None:
        try:
            received = connection.sock.receive()
            if received is not None:
                self._receive(connection, received)
        except OSError:
            self._drop(connection)

    def _receive(self, connection: Connection, received: bytes) -> None:
        if connection.phase is Phase.CLOSING:
            self._discard(connection, received)
        elif received:
            connection.request.append(received)
            self._read_request(connection)
        elif connection.request:
            # The client has sent all that it will; the parser finds out what is missing.
            self._submit(connection, Extent(len(connection.request), is_whole=False))
        else:
            self._drop(connection)

    def _read_request(self, connection: Connection) -> None:
        """Hand over a request if it is whole."""
        request = connection.request
        if connection.phase is Phase.IDLE:
            connection.phase = Phase.READING
            connection.timeout = time.monotonic() + self.request_deadline_s
        try:
            extent = request.find_extent()
        except errors.ParseException as error:
            self._reject(connection, find_rejection(error) or NOT_HTTP)
            return
        if extent is not None:
            self._submit(connection, extent)
            return
        if request.expects_continue:
            request.expects_continue = False
            connection.sock.sendall(_CONTINUE)
            connection.sock.flush()
        self._count(connection)

    def _submit(self, connection: Connection, extent: Extent) -> None:
        """Hand a request over to a thread."""
        self.waiting.discard(connection)
        self._count(connection)
        connection.is_whole = extent.is_whole
        connection.sock.offer(connection.request.take(extent.length))
        self.enqueue_req(connection)

    def _reject(self, connection: Connection, rejection: Rejection) -> None:
        """Answer a request instead of the app, and end the connection."""
        self.waiting.discard(connection)
        connection.request.take(len(connection.request))
        connection.sock.sendall(reject(rejection))
        connection.is_kept = False
        self._send_rest(connection)

    def _send_rest(self, connection: Connection) -> None:
        """Send what the client has not taken yet; then wait for its next request, or end the connection."""
        try:
            connection.sock.flush()
            self._count(connection)
            if not connection.sock.unsent:
                self.waiting.discard(connection)
                self._await_next(connection)
            elif connection not in self.waiting:
                self._wait(connection, Phase.SENDING, SEND_TIMEOUT_S)
        except OSError:
            self._drop(connection)

    def _await_next(self, connection: Connection) -> None:
        if not connection.is_kept:
            connection.sock.end()
            self._wait(connection, Phase.CLOSING, CLOSE_TIMEOUT_S)
            return
        self._wait(connection, Phase.IDLE, self.cfg.keepalive if self.alive else STOP_KEEPALIVE_LINGER)
        if connection.request:
            self._read_request(connection)

    def _discard(self, connection: Connection, received: bytes) -> None:
        connection.discarded_bytes += len(received)
        if not received or connection.discarded_bytes > MAX_DISCARDED_BYTES:
            self._drop(connection)

    def _wait(self, connection: Connection, phase: Phase, timeout_s: float) -> None:
        connection.phase = phase
        connection.timeout = time.monotonic() + timeout_s
        self.waiting.add(connection)
        event = selectors.EVENT_WRITE if phase is Phase.SENDING else selectors.EVENT_READ
        if event != connection.event:
            self._watch(connection, event)

    def _watch(self, connection: Connection, event: int) -> None:
        """Set which event of a connection the poller reports, 0 for none.

        It stays set while a thread handles a request, since mostly nothing arrives then.
        """
        if connection.event:
            self.poller.unregister(connection.sock)
        if event:
            self.poller.register(connection.sock, event, partial(self._on_event, connection))
        connection.event = event

    def _drop(self, connection: Connection) -> None:
        """Close a connection without another word."""
        self.waiting.discard(connection)
        self._watch(connection, 0)
        self.nr_conns -= 1
        self.buffered_bytes -= connection.buffered_bytes
        connection.buffered_bytes = 0
        connection.close()

    def _make_room(self) -> None:
        """Drop the connection whose time is up first, so that a crowd of silent ones keeps nobody out."""
        if self.waiting:
            self._drop(min(self.waiting, key=lambda connection: connection.timeout))

    def _count(self, connection: Connection) -> None:
        """Count what a connection holds, towards the limit of the process."""
        held = len(connection.request) + len(connection.sock.unsent)
        self.buffered_bytes += held - connection.buffered_bytes
        connection.buffered_bytes = held

    def _bound_buffers(self) -> None:
        """Give up the connections that hold most while all of them hold too much together."""
        while self.buffered_bytes > MAX_BUFFERED_BYTES and self.waiting:
            largest = max(self.waiting, key=lambda connection: connection.buffered_bytes)
            if not largest.buffered_bytes:
                return
            if largest.phase is Phase.READING:
                self._reject(largest, OVERLOADED)
            else:
                self._drop(largest)
