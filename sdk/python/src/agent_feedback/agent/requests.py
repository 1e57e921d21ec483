"""Requests of an agent: to its allowed origins only, bounded in time and size, without redirects."""

import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from agent_feedback import protocol_files
from agent_feedback.agent.json_reader import read_json
from agent_feedback.eligibility import index_headers
from agent_feedback.errors import InvalidOption, ServiceRefused, ServiceUnavailable
from agent_feedback.http.client import HttpClient, HttpResponse, backoff_s
from agent_feedback.options import LOOPBACK_HOSTS

_BOUNDS: dict[str, int] = protocol_files.read("contract.json")["agent"]

TIMEOUT_S = _BOUNDS["timeoutMs"] / 1000
RETRY_DELAY_S = _BOUNDS["retryDelayMs"] / 1000
MAX_TEXT_LENGTH = 200
MAX_PAGE_BYTES = 16 * 1024 * 1024
"""A longer response of a product is not read."""

_DEFAULT_PORTS = {"https": 443, "http": 80}
_URL_CHARACTERS = "/%:@!$&'()*+,;=~?[]-._"
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")


class Page(NamedTuple):
    """A response of a product, with the members that `from_response` and `discover` read."""

    url: str
    status_code: int
    headers: Mapping[str, str]
    """By lower-cased names; the values of a repeated one are joined with commas."""
    content: bytes
    method: str = "GET"
    request_headers: Mapping[str, str] = {}
    """The headers of the request, credentials included."""

    def __repr__(self) -> str:
        # Neither the user's credentials nor what the product has answered: it may be logged.
        url = self.url.partition("?")[0]
        return f"Page({self.method} {url}, status_code={self.status_code}, {len(self.content)} bytes)"


def origin_of(url: str) -> str:
    """Return the origin of a URL, without the port where that is the usual one; raise InvalidOption for no URL."""
    parts = _split(url)
    origin = f"{parts.scheme}://{parts.netloc}".lower()
    return origin.removesuffix(f":{_DEFAULT_PORTS.get(parts.scheme)}")


def is_safe(url: str) -> bool:
    """Tell whether a URL is https, or http on this machine, and without credentials."""
    parts = _split(url)
    if not parts.hostname or "@" in parts.netloc:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS)


def service_url(url: str, path: str) -> str:
    """Return the URL of another path of the contract, given the URL of an action."""
    paths: Mapping[str, str] = protocol_files.read("contract.json")["paths"]
    known_path = next((known for known in paths.values() if url.endswith(known)), None)
    base = origin_of(url) if known_path is None else url.removesuffix(known_path)
    return base + paths[path]


def post(url: str, authorization: str, body: bytes) -> dict[str, Any]:
    """Post and return the JSON object of a 200; raise `ServiceRefused` or `ServiceUnavailable`."""
    return _exchange(url, "POST", body, authorization)


def get(url: str, authorization: str) -> dict[str, Any]:
    """Get, as `post` posts."""
    return _exchange(url, "GET", None, authorization)


def _exchange(url: str, method: str, body: bytes | None, authorization: str) -> dict[str, Any]:
    headers = check_headers({"Authorization": authorization})
    client = HttpClient(origin_of(url))
    try:
        response, reason = _try(client, method, url, body, headers)
        if response is None or response.status >= 500:
            client.close()
            time.sleep(backoff_s(1, RETRY_DELAY_S, RETRY_DELAY_S))
            response, reason = _try(client, method, url, body, headers)
    finally:
        client.close()
    if response is None:
        raise ServiceUnavailable(f"{origin_of(url)} could not be reached") from reason
    if response.status >= 500:
        raise ServiceUnavailable(f"{origin_of(url)} answered with status {response.status} twice")
    content = _parse(response.body)
    if response.status != 200:
        raise ServiceRefused(response.status, content)
    if not isinstance(content, dict):
        raise ServiceUnavailable(f"{origin_of(url)} answered without a JSON object")
    return content


def fetch(url: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> Page:
    """Request a page of a product as an agent does, once and without a body, and return it whatever its status.

    Raise `InvalidOption` for a URL or headers that cannot be used, `ServiceUnavailable` if no answer arrives.
    """
    url = _ascii(url)
    if not is_safe(url):
        raise InvalidOption("an https URL without credentials is needed; http only for the machine itself")
    request_headers = check_headers(headers or {})
    client = HttpClient(origin_of(url), max_response_bytes=MAX_PAGE_BYTES)
    try:
        response = client.request(method, _target(url), None, _with_one_user_agent(request_headers), TIMEOUT_S)
    except ServiceUnavailable as error:
        raise ServiceUnavailable(f"{origin_of(url)} could not be reached") from error.__cause__
    finally:
        client.close()
    return Page(url, response.status, index_headers(response.headers), response.body, method, request_headers)


def check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers that may be sent, or raise InvalidOption."""
    for name, value in headers.items():
        if not _HEADER_NAME.match(name):
            raise InvalidOption("the name of a header has letters, digits and hyphens")
        if not (isinstance(value, str) and value.isascii() and value.isprintable()):
            raise InvalidOption(f"the header {name} needs a text of printable ASCII characters")
    return dict(headers)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        # Reading the port checks it.
        is_valid = parts.port != 0 and url.isascii() and url.isprintable() and " " not in url
    except ValueError:
        is_valid = False
    if not is_valid:
        raise InvalidOption("the URL is malformed")
    return parts


def _with_one_user_agent(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers with the name under which the client has a value of its own."""
    return {"User-Agent" if name.lower() == "user-agent" else name: value for name, value in headers.items()}


def _ascii(url: str) -> str:
    """Return a URL as a person writes it in the characters of a request, without its fragment."""
    try:
        parts = urlsplit(url.strip())
        netloc = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    except ValueError:
        raise InvalidOption("the URL is malformed") from None
    path, query = (quote(part, safe=_URL_CHARACTERS) for part in (parts.path, parts.query))
    return urlunsplit((parts.scheme, netloc, path, query, ""))


def _target(url: str) -> str:
    """Return the path and the query of a URL, as a request line has them."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _try(
    client: HttpClient, method: str, url: str, body: bytes | None, headers: Mapping[str, str]
) -> tuple[HttpResponse | None, BaseException | None]:
    """Return the response, or None and the reason why there is none."""
    try:
        return client.request(method, _target(url), body, headers, TIMEOUT_S), None
    except ServiceUnavailable as error:
        return None, error.__cause__


def _parse(body: bytes) -> Any:
    """Return the JSON of an answer, or the beginning of its text: proxies answer with pages."""
    try:
        return read_json(body or b"null")
    except ValueError:
        return body[:MAX_TEXT_LENGTH].decode("utf-8", "replace")
