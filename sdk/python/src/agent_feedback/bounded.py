"""HTTP calls that end by their deadline, whatever the other side does, and never follow a redirect."""

import http.client
import os
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple
from urllib.parse import urlsplit

MOST_IDLE = 8
"""Connections that are kept for later calls."""

_CLOSED_MEANWHILE = (ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError)


class Answered(NamedTuple):
    """What came back."""

    status: int
    body: bytes
    retry_after: str | None


class _Call(NamedTuple):
    """What is asked."""

    method: str
    path: str
    body: bytes | None
    headers: dict[str, str]


class TooLong(OSError):
    """The answer is longer than anything that is expected."""


class BoundedCalls:
    """Calls one origin, from any thread; raises `OSError` or `http.client.HTTPException`."""

    def __init__(self, endpoint: str, longest_answer: int) -> None:
        parts = urlsplit(endpoint)
        self._host, self._base = parts.hostname or "", parts.path.rstrip("/")
        self._context = ssl.create_default_context() if parts.scheme == "https" else None
        self._port = parts.port or (443 if self._context else 80)
        self._longest = longest_answer
        self._idle: deque[tuple[int, _Connection]] = deque()

    def call(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], timeout: float) -> Answered:
        """Call and return the answer within `timeout` seconds. An idle connection that was closed is no failure."""
        until = time.monotonic() + timeout
        told = {"Content-Type": "application/json", **headers} if body is not None else dict(headers)
        call = _Call(method, self._base + path, body, told)
        kept = self._take()
        if kept is not None:
            with suppress(*_CLOSED_MEANWHILE):
                return self._exchange(kept, call, until)
        return self._exchange(_Connection(self._host, self._port, self._context), call, until)

    def close(self) -> None:
        """Close what is idle; the next call opens another connection."""
        while self._idle:
            with suppress(IndexError):
                self._idle.pop()[1].close()

    def _exchange(self, connection: "_Connection", call: "_Call", until: float) -> Answered:
        try:
            connection.set_deadline(until)
            connection.request(*call)
            response = connection.getresponse()
            content = response.read(self._longest + 1)
            if len(content) > self._longest:
                raise TooLong(f"more than {self._longest} bytes")
            answered = Answered(response.status, content, response.getheader("Retry-After"))
            is_kept = response.isclosed() and not response.will_close and len(self._idle) < MOST_IDLE
        except BaseException:
            connection.close()
            raise
        if is_kept:
            self._idle.append((os.getpid(), connection))
        else:
            response.close()
            connection.close()
        return answered

    def _take(self) -> "_Connection | None":
        """Return the connection that was used last, if one is idle."""
        while self._idle:
            with suppress(IndexError):
                owner, connection = self._idle.pop()
                if owner == os.getpid():
                    return connection
                # A fork's copy: the parent goes on with its own.
                connection.close()
        return None


class _Timed:
    """A socket's part that gives each step only the time that is left."""

    until = 0.0

    def recv_into(self, *arguments: Any, **named: Any) -> int:
        self.settimeout(_left(self.until))  # type: ignore[attr-defined]
        return super().recv_into(*arguments, **named)  # type: ignore[misc, no-any-return]

    def sendall(self, *arguments: Any, **named: Any) -> None:
        self.settimeout(_left(self.until))  # type: ignore[attr-defined]
        super().sendall(*arguments, **named)  # type: ignore[misc]

    def __del__(self) -> None:
        # An idle connection that nobody has any more is no mistake to warn of.
        with suppress(Exception):
            self.close()  # type: ignore[attr-defined]


class _Plain(_Timed, socket.socket):
    """A timed TCP socket."""


class _Secure(_Timed, ssl.SSLSocket):
    """A timed TLS socket."""


class _Connection(http.client.HTTPConnection):
    """A connection that is opened, asked and read by one deadline."""

    def __init__(self, host: str, port: int, context: ssl.SSLContext | None) -> None:
        super().__init__(host, port)
        self._context, self._until = context, 0.0
        if context:
            context.sslsocket_class = _Secure
            self.default_port = 443

    def set_deadline(self, until: float) -> None:
        """Have everything from now on end by then, on the monotonic clock."""
        self._until = until
        timed: Any = self.sock
        if timed is not None:
            timed.until = until

    def connect(self) -> None:
        """Open the connection, trying each address."""
        failure: OSError = OSError("no address")
        for family, kind, protocol, _, address in _resolve(self.host, self.port, self._until):
            plain = _Plain(family, kind, protocol)
            try:
                plain.until = self._until
                plain.settimeout(_left(self._until))
                plain.connect(address)
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.sock = self._secured(plain)
            except OSError as error:
                plain.close()
                failure = error
            else:
                return
        raise failure

    def _secured(self, plain: _Plain) -> Any:
        if self._context is None:
            return plain
        plain.settimeout(_left(self._until))
        secure: Any = self._context.wrap_socket(plain, server_hostname=self.host)
        secure.until = self._until
        return secure


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time is up")
    return left


def _resolve(host: str, port: int, until: float) -> list[Any]:
    """Return a host's addresses. The system's resolver knows no time-out: it is waited for, not run, by the caller."""
    found: SimpleQueue[Any] = SimpleQueue()

    def look_up() -> None:
        try:
            found.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            found.put(error)

    try:
        threading.Thread(target=look_up, name="agent-feedback-resolve", daemon=True).start()
        addresses = found.get(timeout=_left(until))
    except Empty:
        raise TimeoutError("the name was not resolved in time") from None
    except RuntimeError as error:  # no more threads, as in a process that is ending
        raise OSError(str(error)) from None
    if isinstance(addresses, OSError):
        raise addresses
    return list(addresses)
