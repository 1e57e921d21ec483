"""The HTTP client of this package: bounded by a deadline, pooled, safe across threads and forks, without redirects."""

import http.client
import os
import random
import ssl
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from agent_feedback.errors import ServiceUnavailable, ServiceUnreachable
from agent_feedback.http.connection import Connection
from agent_feedback.version import VERSION

MAX_RESPONSE_BYTES = 1024 * 1024
MAX_IDLE_CONNECTIONS = 8
MAX_RETRY_AFTER_S = 600.0
"""A longer `Retry-After` counts as this much."""
MAX_DOUBLINGS = 10

# The module's generator is the product's, which may have seeded it; this one has no state that forks would share.
_jitter = random.SystemRandom()

USER_AGENT = f"agent-feedback-python/{VERSION}"

_REFUSED_HEADER = "Agent-Feedback-Refused"
_NO_HEADERS: Mapping[str, str] = {}

_CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_CONNECTION_CLOSED = (ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError)


@lru_cache(maxsize=4)
def _tls_context(*_certificates: str | None) -> ssl.SSLContext:
    """Return the context for these variables of the environment: all clients share one, since reading it takes long."""
    return ssl.create_default_context()


class HttpResponse(NamedTuple):
    """A response of the service."""

    status: int
    body: bytes
    retry_after: str | None = None
    """The `Retry-After` header as it was sent."""
    refused: str | None = None
    """The `Agent-Feedback-Refused` header as it was sent: how many events the service has counted as refused."""
    is_repetition: bool = False
    """Whether the request was sent before, on an idle connection that was closed without an answer."""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def retry_after_s(self) -> float:
        """Return the seconds of `Retry-After`, given as seconds or as a date; 0 without a readable one."""
        text = self.retry_after or ""
        try:
            if text.isascii() and text.isdigit():
                seconds = float(text)
            else:
                instant = parsedate_to_datetime(text)
                if instant.tzinfo is None:
                    instant = instant.replace(tzinfo=timezone.utc)
                seconds = (instant - datetime.now(timezone.utc)).total_seconds()
        except (ValueError, TypeError, IndexError):
            return 0.0
        return min(max(seconds, 0.0), MAX_RETRY_AFTER_S)


class _NotConnected(Exception):
    """No connection was opened, so nothing was sent."""

    def __init__(self, reason: OSError) -> None:
        super().__init__()
        self.reason = reason


class _Request(NamedTuple):
    """The arguments of `http.client.HTTPConnection.request`."""

    method: str
    path: str
    body: bytes | None
    headers: dict[str, str]


class HttpClient:
    """Sends requests to one origin; every method may be called from any thread."""

    def __init__(self, endpoint: str, max_response_bytes: int = MAX_RESPONSE_BYTES) -> None:
        url = urlsplit(endpoint)
        self._max_response_bytes = max_response_bytes
        self._host, self._base_path = url.hostname or "", url.path.rstrip("/")
        self._tls = _tls_context(*map(os.environ.get, _CERTIFICATE_VARIABLES)) if url.scheme == "https" else None
        self._port = url.port or (443 if self._tls else 80)
        self._idle_connections: deque[tuple[int, Connection]] = deque()

    def request(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], timeout_s: float
    ) -> HttpResponse:
        """Send a request and return the response, whatever its status, within `timeout_s` seconds.

        Raise `ServiceUnavailable` if none arrives, and `ServiceUnreachable` if the request was not even sent. An idle
        connection that the server has closed is replaced once.
        """
        deadline = time.monotonic() + timeout_s
        default_headers = {"User-Agent": USER_AGENT, **({} if body is None else {"Content-Type": "application/json"})}
        request = _Request(method, self._base_path + path, body, {**default_headers, **headers})
        try:
            return self._send(request, deadline)
        except _NotConnected as error:
            raise ServiceUnreachable(f"no usable answer ({type(error.reason).__name__})") from error.reason
        except (OSError, http.client.HTTPException) as error:
            raise ServiceUnavailable(f"no usable answer ({type(error).__name__})") from error

    def post(
        self, path: str, body: bytes, bearer: str, timeout_s: float, headers: Mapping[str, str] = _NO_HEADERS
    ) -> HttpResponse:
        """Post JSON with a bearer credential; as `request`."""
        return self.request("POST", path, body, {"Authorization": f"Bearer {bearer}", **headers}, timeout_s)

    def close(self) -> None:
        """Close the idle connections; a later request opens a new one."""
        while self._idle_connections:
            with suppress(IndexError):
                self._idle_connections.pop()[1].close()

    def _send(self, request: _Request, deadline: float) -> HttpResponse:
        idle_connection = self._take_idle()
        if idle_connection is not None:
            with suppress(*_CONNECTION_CLOSED):
                return self._exchange(idle_connection, request, deadline)
        connection = Connection(self._host, self._port, self._tls)
        try:
            response = self._exchange(connection, request, deadline)
        except _NotConnected as error:
            if idle_connection is None:
                raise
            # The server may have received the request before it closed the idle connection.
            raise error.reason from None
        return response._replace(is_repetition=idle_connection is not None)

    def _exchange(self, connection: Connection, request: _Request, deadline: float) -> HttpResponse:
        try:
            connection.set_deadline(deadline)
            _open(connection)
            connection.request(*request)
            response = connection.getresponse()
            body = response.read(self._max_response_bytes + 1)
            if len(body) > self._max_response_bytes:
                raise OSError(f"the answer is longer than {self._max_response_bytes} bytes")
            is_reusable = (
                response.isclosed() and not response.will_close and len(self._idle_connections) < MAX_IDLE_CONNECTIONS
            )
        except BaseException:
            connection.close()
            raise
        if is_reusable:
            self._idle_connections.append((os.getpid(), connection))
        else:
            response.close()
            connection.close()
        headers = response.headers
        refused = headers[_REFUSED_HEADER]
        return HttpResponse(response.status, body, headers["Retry-After"], refused, headers=tuple(headers.items()))

    def _take_idle(self) -> Connection | None:
        """Return the idle connection that was used last, if there is one."""
        while self._idle_connections:
            with suppress(IndexError):
                process_id, connection = self._idle_connections.pop()
                if process_id == os.getpid():
                    return connection
                # The copy of a parent process, which goes on using its own.
                connection.close()
        return None


def _open(connection: Connection) -> None:
    """Open a connection that is not open yet, or raise `_NotConnected`."""
    if connection.sock is None:
        try:
            connection.connect()
        except OSError as error:
            raise _NotConnected(error) from None


def backoff_s(failures: int, first_s: float, max_s: float) -> float:
    """Return the seconds to wait after so many failures in a row: doubled each time, bounded, and jittered."""
    doublings = min(max(failures - 1, 0), MAX_DOUBLINGS)
    return min(first_s * 2.0**doublings, max_s) * _jitter.uniform(0.5, 1.0)
