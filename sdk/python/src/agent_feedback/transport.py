"""One kept HTTP connection that never follows a redirect."""

import codecs
import http.client
import ssl
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import NamedTuple
from urllib.parse import urlsplit

# Python loads this codec with the first connection. A fork in that very moment would leave the worker without it for
# good, and thus without connections.
codecs.lookup("idna")

LONGEST_ANSWER = 65536
LONGEST_RETRY_AFTER_S = 600.0
"""A server that asks for more than this is asked again after this."""


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
        self._host, self._base = parts.netloc, parts.path.rstrip("/")
        self._context = ssl.create_default_context() if parts.scheme == "https" else None
        self._timeout = timeout
        self._connection: http.client.HTTPConnection | None = None

    def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Post and return the answer, or raise `OSError` or `http.client.HTTPException`."""
        is_kept = self._connection is not None
        try:
            return self._post(path, body, headers)
        except ConnectionError:
            if not is_kept:
                raise
            # The server has closed the idle connection meanwhile: that is no failure of this post.
            return self._post(path, body, headers)

    def close(self) -> None:
        """Give the connection up; the next post opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        connection = self._connection or self._connect()
        try:
            connection.request("POST", self._base + path, body, {"Content-Type": "application/json", **headers})
            response = connection.getresponse()
            answer = Answer(response.status, _seconds(response.getheader("Retry-After")), response.read(LONGEST_ANSWER))
        except BaseException:
            self.close()
            raise
        if response.will_close or not response.isclosed():
            self.close()
        return answer

    def _connect(self) -> http.client.HTTPConnection:
        if self._context:
            self._connection = http.client.HTTPSConnection(self._host, timeout=self._timeout, context=self._context)
        else:
            self._connection = http.client.HTTPConnection(self._host, timeout=self._timeout)
        return self._connection


def _seconds(text: str | None) -> float | None:
    """Read a `Retry-After`: seconds, or a date."""
    if text is None:
        return None
    try:
        if text.isascii() and text.isdigit():
            seconds = float(text)
        else:
            moment = parsedate_to_datetime(text)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=timezone.utc)
            seconds = (moment - datetime.now(timezone.utc)).total_seconds()
    except (ValueError, TypeError, IndexError):
        return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER_S)
