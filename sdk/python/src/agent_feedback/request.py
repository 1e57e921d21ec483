"""Requests of a product's HTTP server, as every adapter presents them."""

from collections.abc import Mapping
from typing import Any, Protocol


class Caller(Protocol):
    """What is known of whoever calls, by HTTP or by MCP."""

    source: Any
    """What the company's callbacks take: the WSGI environment, the ASGI scope, or the context of an MCP request."""

    def header(self, name: str) -> str | None:
        """Return the value of a header by its lower-cased name, or None."""


class Request(Caller, Protocol):
    """An HTTP request."""

    source: dict[str, Any]
    """The WSGI environment or the ASGI scope."""
    method: str
    path: str
    """The decoded path, with that under which the application is mounted."""

    @property
    def target(self) -> str:
        """The path and the query as the request line has them."""

    @property
    def mount(self) -> str:
        """The percent-encoded path under which the application is mounted."""

    @property
    def client_address(self) -> str | None:
        """The address of the peer, as the product's server has it."""


def source_of(request: Any) -> Mapping[str, Any]:
    """Return the WSGI environment or the ASGI scope behind a request of a framework, or the mapping that is given."""
    if isinstance(request, Mapping):
        return request
    for attribute in ("environ", "scope", "META"):
        source = getattr(request, attribute, None)
        if isinstance(source, Mapping):
            return source
    raise TypeError("a request is needed: the WSGI environment, the ASGI scope, or the framework's object around it")
