"""Send one webhook: to an address that was checked, within a time, and without reading what the receiver says."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple

import certifi

from app.webhooks.addresses import HTTP_PORT, HTTPS_PORT, AddressError, BadUrl, Target, read_url, resolve

CONNECT_TIMEOUT_S = 5.0
TOTAL_TIMEOUT_S = 15.0
"""Of everything after the resolution of the host: a receiver that drips its answer is cut off."""

SUCCESS = range(200, 300)
REDIRECTS = range(300, 400)


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, and to where."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    allows_private: bool


class Attempt(NamedTuple):
    """How an attempt ended; `error` is a slug, or None after a success."""

    status: int | None
    error: str | None
    duration_ms: int


class _NotConnected(Exception):
    """No address accepted a connection."""


class _PinnedConnection(HTTPConnection):
    """Connects to addresses that were checked, whatever the name of the host resolves to by now.

    Everything else goes by the name: the Host header, the server name of TLS, and the check of the certificate.
    """

    def __init__(self, target: Target, addresses: Sequence[str]) -> None:
        super().__init__(target.host, target.port)
        self.default_port = HTTPS_PORT if target.is_https else HTTP_PORT
        self._is_https, self._addresses = target.is_https, addresses
        self.is_late = threading.Event()
        self._duplicate: socket.socket | None = None
        """A second descriptor of the socket, by which another thread ends also a TLS handshake."""

    def connect(self) -> None:
        """Connect to the first address that accepts, and begin TLS."""
        self.sock = self._connect()
        self._duplicate = self.sock.dup()
        if self.is_late.is_set():
            raise TimeoutError
        self.sock.settimeout(TOTAL_TIMEOUT_S)
        if self._is_https:
            self.sock = _tls().wrap_socket(self.sock, server_hostname=self.host)

    def _connect(self) -> socket.socket:
        failure: OSError | None = None
        for address in self._addresses:
            if self.is_late.is_set():
                break
            try:
                return socket.create_connection((address, self.port), CONNECT_TIMEOUT_S)
            except OSError as error:
                failure = error
        raise _NotConnected from failure

    def cut_off(self) -> None:
        """End the connection from another thread, since the time is over."""
        self.is_late.set()
        if self._duplicate is not None:
            with contextlib.suppress(OSError):
                self._duplicate.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket and its second descriptor."""
        super().close()
        if self._duplicate is not None:
            self._duplicate.close()


def send(request: Request) -> Attempt:
    """Send a webhook once; never raises."""
    started_at = time.monotonic()
    status, error = _try(request)
    return Attempt(status, error, int((time.monotonic() - started_at) * 1000))


def _try(request: Request) -> tuple[int | None, str | None]:
    try:
        target = read_url(request.url, allows_private=request.allows_private)
        addresses = resolve(target, allows_private=request.allows_private)
    except BadUrl:
        return None, "url_refused"
    except AddressError as error:
        return None, str(error)
    connection = _PinnedConnection(target, addresses)
    timer = threading.Timer(TOTAL_TIMEOUT_S, connection.cut_off)
    timer.daemon = True
    timer.start()
    try:
        status = _post(connection, target, request)
    except (HTTPException, OSError, ValueError, _NotConnected) as error:
        return None, "timeout" if connection.is_late.is_set() else _slug(error)
    finally:
        timer.cancel()
        connection.close()
    # What was cut off within its headers looks like an answer.
    return (None, "timeout") if connection.is_late.is_set() else (status, _status_error(status))


@cache
def _tls() -> ssl.SSLContext:
    """Trust the authorities of the system and of Mozilla: a container may have none of its own."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _post(connection: HTTPConnection, target: Target, request: Request) -> int:
    """Send the request and return the status; the body is not read, and the connection is not used again."""
    headers = {"User-Agent": "agent-feedback-webhooks/1", "Connection": "close", **request.headers}
    connection.request("POST", target.path, request.body, headers)
    return connection.getresponse().status


def _status_error(status: int) -> str | None:
    if status in SUCCESS:
        return None
    return "redirect" if status in REDIRECTS else "status"


def _slug(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, _NotConnected):
        return "timeout" if isinstance(error.__cause__, TimeoutError) else "connection_refused"
    if isinstance(error, ssl.SSLError):
        return "tls_failed"
    return "connection_lost"
