"""Requests of an agent: to safe origins only, and repeated once after a 5xx or a network error."""

import json
import time
from typing import Any
from urllib.parse import urlsplit

from agent_feedback.errors import ServiceRefused, ServiceUnavailable
from agent_feedback.http.client import HttpClient, HttpResponse
from agent_feedback.options import LOOPBACK_HOSTS

TIMEOUT_S = 10.0
RETRY_DELAY_S = 0.5
MAX_TEXT_LENGTH = 200


def origin_of(url: str) -> str:
    """Return the origin of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def is_safe(url: str) -> bool:
    """Tell whether a URL is https, or http on this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS)


def post(url: str, authorization: str, body: bytes) -> dict[str, Any]:
    """Post and return the JSON object of a 200; raise `ServiceRefused` or `ServiceUnavailable`."""
    client = HttpClient(origin_of(url))
    try:
        response = _try(client, url, authorization, body)
        if response is None or response.status >= 500:
            client.close()
            time.sleep(RETRY_DELAY_S)
            response = _try(client, url, authorization, body)
    finally:
        client.close()
    if response is None:
        raise ServiceUnavailable(f"{origin_of(url)} could not be reached")
    if response.status >= 500:
        raise ServiceUnavailable(f"{origin_of(url)} answered with status {response.status} twice")
    content = _parse(response.body)
    if response.status != 200:
        raise ServiceRefused(response.status, content)
    if not isinstance(content, dict):
        raise ServiceUnavailable(f"{origin_of(url)} answered without a JSON object")
    return content


def _try(client: HttpClient, url: str, authorization: str, body: bytes) -> HttpResponse | None:
    try:
        return client.request("POST", urlsplit(url).path, body, {"Authorization": authorization}, TIMEOUT_S)
    except ServiceUnavailable:
        return None


def _parse(body: bytes) -> Any:
    """Return the JSON of an answer, or the beginning of its text: proxies answer with pages."""
    try:
        return json.loads(body or b"null")
    except (ValueError, RecursionError):
        return body[:MAX_TEXT_LENGTH].decode("utf-8", "replace")
