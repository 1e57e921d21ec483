"""Ends a connection after a response that says `Connection: close`."""

from collections.abc import Callable, Iterable
from typing import Any

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Wsgi = Callable[[Environ, StartResponse], Iterable[bytes]]


def closing(wsgi: Wsgi) -> Wsgi:
    """Make gunicorn end the connection after a response that says `Connection: close`; it ignores that header."""

    def serve(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            if ("Connection", "close") in headers:
                start_response.__self__.force_close()  # type: ignore[attr-defined]  # a method of gunicorn's response
            return start_response(status, headers, exc_info)

        return wsgi(environ, start)

    return serve
