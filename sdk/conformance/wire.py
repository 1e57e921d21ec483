"""An HTTP client that hides nothing: raw targets, repeated headers, and answers that are cut short."""

import http.client
import json
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

TIMEOUT_S = 20
"""Much longer than anything takes on a busy machine."""

Headers = Iterable[tuple[str, str]]


class Response(NamedTuple):
    """An answer as it came over the wire."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    is_complete: bool = True

    def all(self, name: str) -> list[str]:
        """Return every value of a header."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def value(self, name: str) -> str | None:
        """Return the value of a header that is there at most once."""
        values = self.all(name)
        assert len(values) < 2, f"{name} is there {len(values)} times"
        return values[0] if values else None

    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.body)


def send(
    url: str,
    target: str = "/",
    method: str = "GET",
    headers: Headers = (),
    body: bytes | None = None,
    *,
    timeout_s: float = TIMEOUT_S,
) -> Response:
    """Send a request with exactly this target and these headers."""
    connection = http.client.HTTPConnection(str(urlsplit(url).hostname), urlsplit(url).port, timeout=timeout_s)
    try:
        names = {name.lower() for name, _value in headers}
        connection.putrequest(method, target, skip_host="host" in names, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.putheader("Connection", "close")
        if body is not None and "content-length" not in names:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        return _read(connection.getresponse())
    finally:
        connection.close()


def _read(response: http.client.HTTPResponse) -> Response:
    headers = response.getheaders()
    try:
        return Response(response.status, headers, response.read())
    except http.client.IncompleteRead as error:
        return Response(response.status, headers, error.partial, is_complete=False)
    except ConnectionError:
        return Response(response.status, headers, b"", is_complete=False)
