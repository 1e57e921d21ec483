"""Follow the `Link` by which a product offers its envelope to agents that ask for it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urljoin

from agent_feedback import protocol_files
from agent_feedback.agent import requests
from agent_feedback.agent.received import Received, from_response
from agent_feedback.agent.response import find_header

_HEADERS = protocol_files.read("contract.json")["headers"]
_NAME, _VALUE = _HEADERS["request"], _HEADERS["requestValue"]
_RELATION = "agent-feedback"
_METHODS = ("GET", "HEAD")

# What describes a body, the connection or a copy in a cache is not part of the request that is repeated.
_DROPPED_HEADERS = frozenset(
    {
        "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect", "host",
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "range",
        "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip

_LINK = re.compile(r"<([^<>]*)>((?:[^,<\"]|\"(?:[^\"\\]|\\.)*\")*)")
_PARAMETER = re.compile(r";\s*([A-Za-z0-9!#$&+.^_`|~*-]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;,\"]+))")


class Link(NamedTuple):
    """One link of a `Link` header, with its parameters by lower-cased names."""

    target: str
    parameters: Mapping[str, str]


def discover(response: Any, *, allowed_origins: Sequence[str]) -> Received | None:
    """Return what a response holds, or else what the product sends when it is asked with `Agent-Feedback-Request`.

    `response` is a response of requests or httpx, or a page of `fetch`. The request is sent at most once, and only if
    the response has the link for it: to the same origin, with the same method and headers, without a body; a redirect
    is not followed. None without an envelope; `ServiceUnavailable` if the product does not answer.
    """
    received = from_response(response, allowed_origins=allowed_origins)
    if received and received.content:
        return received
    page = request_envelope(response)
    return received if page is None else from_response(page, allowed_origins=allowed_origins) or received


def request_envelope(response: Any) -> requests.Page | None:
    """Send the request that a response's link asks for, and return its answer; None without such a link."""
    response_url = str(getattr(response, "url", "") or "")
    target = find_target(response, response_url)
    method, headers = _request_of(response)
    if target is None or method not in _METHODS:
        return None
    kept_headers = {name: value for name, value in headers.items() if name.lower() not in _DROPPED_HEADERS}
    return requests.fetch(target, {**kept_headers, _NAME: _VALUE}, method)


def find_target(response: Any, response_url: str) -> str | None:
    """Return the URL of the response's link to its envelope, or None without one of the same origin."""
    for link in read_links(find_header(response, "Link") or ""):
        if _RELATION not in link.parameters.get("rel", "").lower().split() or not _asks_for_header(link):
            continue
        with suppress(ValueError):
            target = urljoin(response_url, link.target)
            if requests.origin_of(target) == requests.origin_of(response_url) and requests.is_safe(target):
                return target
    return None


def read_links(header: str) -> Iterator[Link]:
    """Yield the links of a `Link` header (RFC 8288)."""
    for match in _LINK.finditer(header):
        parameters: dict[str, str] = {}
        for name, quoted, token in _PARAMETER.findall(match[2]):
            # The first parameter of a name counts.
            parameters.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or token)
        yield Link(match[1], parameters)


def _asks_for_header(link: Link) -> bool:
    name, _, value = link.parameters.get("request-header", "").partition(":")
    return (name.strip().lower(), value.strip()) == (_NAME.lower(), _VALUE)


def _request_of(response: Any) -> tuple[str, dict[str, str]]:
    """Return the method and the headers of the request that a response answers."""
    if isinstance(response, requests.Page):
        return response.method, dict(response.request_headers)
    request = getattr(response, "request", None)
    headers: Any = getattr(request, "headers", None) or {}
    return str(getattr(request, "method", None) or "GET").upper(), {
        str(name): _text(value) for name, value in headers.items()
    }


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
