"""HTTP connections with one deadline for every step, from the name's look-up to the last byte."""

import codecs
import http.client
import socket
import ssl
import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

# Python loads this codec with the first connection. A fork in that very moment would leave the worker without it for
# good, and thus without connections.
codecs.lookup("idna")

_Addresses = list[Any]


class _DeadlineSocket:
    """A mixin for sockets that gives each blocking step only the time that is left."""

    deadline = 0.0
    """On the monotonic clock."""

    def recv_into(self, *arguments: Any, **options: Any) -> int:
        self.settimeout(_remaining_s(self.deadline))  # type: ignore[attr-defined]  # of the socket beside this mixin
        return super().recv_into(*arguments, **options)  # type: ignore[misc, no-any-return]  # as above

    def sendall(self, *arguments: Any, **options: Any) -> None:
        self.settimeout(_remaining_s(self.deadline))  # type: ignore[attr-defined]  # as above
        super().sendall(*arguments, **options)  # type: ignore[misc]  # as above

    def __del__(self) -> None:
        # Python warns of a socket that is collected unclosed; an idle connection whose client is gone is no mistake.
        with suppress(Exception):
            self.close()  # type: ignore[attr-defined]  # as above


class _PlainSocket(_DeadlineSocket, socket.socket):
    """A TCP socket with a deadline."""


class _TlsSocket(_DeadlineSocket, ssl.SSLSocket):
    """A TLS socket with a deadline."""


class Connection(http.client.HTTPConnection):
    """A connection that is opened, written and read by one deadline."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        super().__init__(host, port)
        self._tls, self._deadline = tls, 0.0
        if tls:
            tls.sslsocket_class = _TlsSocket
            self.default_port = 443

    def set_deadline(self, deadline: float) -> None:
        """Set the instant, on the monotonic clock, by which everything from now on has to end."""
        self._deadline = deadline
        open_socket: Any = self.sock
        if open_socket is not None:
            open_socket.deadline = deadline

    def connect(self) -> None:
        """Open the connection to the first address that takes it."""
        failure: OSError = OSError("no address")
        for family, socket_type, protocol, _, address in _resolve(self.host, self.port, self._deadline):
            plain_socket = _PlainSocket(family, socket_type, protocol)
            try:
                plain_socket.deadline = self._deadline
                plain_socket.settimeout(_remaining_s(self._deadline))
                plain_socket.connect(address)
                plain_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.sock = self._wrap(plain_socket)
            except OSError as error:
                plain_socket.close()
                failure = error
            else:
                return
        raise failure

    def _wrap(self, plain_socket: _PlainSocket) -> Any:
        """Return the socket with TLS on it, where the origin is https."""
        if self._tls is None:
            return plain_socket
        plain_socket.settimeout(_remaining_s(self._deadline))
        tls_socket: Any = self._tls.wrap_socket(plain_socket, server_hostname=self.host)
        tls_socket.deadline = self._deadline
        return tls_socket


def _remaining_s(deadline: float) -> float:
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise TimeoutError("the deadline has passed")
    return remaining


def _resolve(host: str, port: int, deadline: float) -> _Addresses:
    """Return a host's addresses. The system's resolver has no timeout, so it runs in a thread of its own."""
    results: SimpleQueue[_Addresses | OSError] = SimpleQueue()

    def look_up() -> None:
        try:
            results.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            results.put(error)

    try:
        threading.Thread(target=look_up, name="agent-feedback-resolve", daemon=True).start()
    except RuntimeError:
        # A process that is ending starts no threads, and its last telemetry still has to go out.
        look_up()
    try:
        result = results.get(timeout=_remaining_s(deadline))
    except Empty:
        raise TimeoutError("the name was not resolved in time") from None
    if isinstance(result, OSError):
        raise result
    return result
