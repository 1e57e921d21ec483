"""One kept HTTP connection that never follows a redirect."""

import http.client
import ssl
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit


class Answer(NamedTuple):
    """What came back."""

    status: int
    retry_after: float | None
    """Seconds, if the server said."""
    body: bytes


class Transport:
    """Posts JSON to one origin; not for use by two threads at once."""

    def __init__(self, endpoint: str, timeout: float) -> None:
        parts = urlsplit(endpoint)
        self._is_tls, self._host, self._base = parts.scheme == "https", parts.netloc, parts.path.rstrip("/")
        self._timeout = timeout
        self._connection: http.client.HTTPConnection | None = None

    def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Post and return the answer, or raise `OSError` or `http.client.HTTPException`."""
        connection = self._connection or self._connect()
        try:
            connection.request("POST", self._base + path, body, {"Content-Type": "application/json", **headers})
            response = connection.getresponse()
            answer = Answer(response.status, _seconds(response.getheader("Retry-After")), response.read(65536))
        except BaseException:
            self.close()
            raise
        if response.will_close or not response.isclosed():
            self.close()
        return answer

    def close(self) -> None:
        """Give the connection up; the next post opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> http.client.HTTPConnection:
        if self._is_tls:
            context = ssl.create_default_context()
            self._connection = http.client.HTTPSConnection(self._host, timeout=self._timeout, context=context)
        else:
            self._connection = http.client.HTTPConnection(self._host, timeout=self._timeout)
        return self._connection


def _seconds(text: str | None) -> float | None:
    return min(float(text), 60.0) if text is not None and text.isdigit() else None
