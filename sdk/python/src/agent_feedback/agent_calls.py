"""How an agent posts: to safe origins only, and once more after a failure that may pass."""

import http.client
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from agent_feedback.options import LOOPBACK
from agent_feedback.transport import Answer, Transport

TIMEOUT_S = 10.0
RETRY_PAUSE_S = 0.5


class FeedbackRefused(Exception):
    """It was not taken; `status` and `body` say why."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"status {status}: {body.get('error') if isinstance(body, dict) else body}")
        self.status, self.body = status, body


def origin(url: str) -> str:
    """Return the origin of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def is_safe(url: str) -> bool:
    """Tell whether a URL is one of https, or of the machine itself."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


def post(url: str, authorization: str, body: bytes) -> dict[str, Any]:
    """Post and return the answer; raises `FeedbackRefused`, or ConnectionError if nobody answers."""
    transport = Transport(origin(url), TIMEOUT_S)
    path, headers = urlsplit(url).path, {"Authorization": authorization}
    try:
        answer = _try(transport, path, body, headers)
        if answer is None or answer.status >= 500:
            transport.close()
            time.sleep(RETRY_PAUSE_S)
            answer = _try(transport, path, body, headers)
    finally:
        transport.close()
    if answer is None:
        raise ConnectionError(f"{origin(url)} could not be reached")
    content = _content(answer.body)
    if answer.status != 200 or not isinstance(content, dict):
        raise FeedbackRefused(answer.status, content)
    return content


def _try(transport: Transport, path: str, body: bytes, headers: Mapping[str, str]) -> Answer | None:
    try:
        return transport.post(path, body, headers)
    except (OSError, http.client.HTTPException):
        return None


def _content(body: bytes) -> Any:
    """Return what came: JSON, or else its first words, which may come from a proxy in between."""
    try:
        return json.loads(body or b"null")
    except (ValueError, RecursionError):
        return body[:200].decode("utf-8", "replace")
