"""The agent's side: find the envelope in a response, and send one compact review.

from agent_feedback.agent import from_response

found = from_response(response, allowed_origins=["https://feedback.example"])
if found:
    found.submit_outcome("success", "All twelve orders matched what the documentation promised.")
"""

import http.client
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from agent_feedback.envelope import FIELD
from agent_feedback.transport import Answer, Transport

TIMEOUT_S = 10.0
RETRY_PAUSE_S = 0.5
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class FeedbackRefused(Exception):
    """The service did not take it; `status` and `body` say why."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"status {status}: {body.get('error') if isinstance(body, dict) else body}")
        self.status, self.body = status, body


class Envelope:
    """An envelope that was found in a response."""

    def __init__(self, content: Mapping[str, Any], allowed_origins: Sequence[str]) -> None:
        self.content = content
        self._allowed = {_origin(url) for url in allowed_origins}

    @property
    def state(self) -> str:
        """`feedback_ready` means that a review may be sent."""
        return str(self.content.get("state"))

    def submit_outcome(self, outcome: str, note: str) -> dict[str, Any]:
        """Send the review and return the service's answer; retries once after a 5xx or a network error.

        Raises ValueError for what the published bounds do not allow, `FeedbackRefused` for what the service refuses.
        """
        action = self.content.get("submitOutcome")
        if not isinstance(action, dict):
            raise ValueError(f"nothing may be submitted in the state {self.state}")
        bounds = action["bodySchema"]
        note = " ".join(note.split())
        if outcome not in bounds["outcome"]:
            raise ValueError(f"outcome must be one of {', '.join(bounds['outcome'])}")
        if not bounds["note"]["minLength"] <= len(note) <= bounds["note"]["maxLength"]:
            raise ValueError(
                f"note must have {bounds['note']['minLength']} to {bounds['note']['maxLength']} characters"
            )
        return self._post(action, {"outcome": outcome, "note": note})

    def _post(self, action: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
        url = str(action["url"])
        parts = urlsplit(url)
        if _origin(url) not in self._allowed or not (parts.scheme == "https" or _is_loopback(url)):
            raise ValueError(f"{_origin(url)} is not an allowed origin")
        transport = Transport(_origin(url), TIMEOUT_S)
        headers = {"Authorization": str(action["authorization"])}
        payload = json.dumps(body).encode()
        try:
            answer = _try(transport, parts.path, payload, headers)
            if answer is None or answer.status >= 500:
                time.sleep(RETRY_PAUSE_S)
                answer = transport.post(parts.path, payload, headers)
        finally:
            transport.close()
        content = json.loads(answer.body or b"null")
        if answer.status != 200:
            raise FeedbackRefused(answer.status, content)
        return dict(content)


def from_response(response: Any, *, allowed_origins: Sequence[str]) -> Envelope | None:
    """Return the envelope of a response, or None.

    `response` is a response of requests or httpx, a parsed JSON object, or the bytes of one.
    """
    content = _parse(response)
    found = content.get(FIELD) if isinstance(content, dict) else None
    return Envelope(found, allowed_origins) if isinstance(found, dict) and found.get("v") == 1 else None


def _parse(response: Any) -> Any:
    if isinstance(response, dict):
        return response
    body = response if isinstance(response, (bytes, str)) else getattr(response, "content", b"")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _try(transport: Transport, path: str, body: bytes, headers: Mapping[str, str]) -> Answer | None:
    try:
        return transport.post(path, body, headers)
    except (OSError, http.client.HTTPException):
        return None


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in _LOOPBACK
