"""The agent's side: find the envelope in a response, ask if it says so, and send one compact review or report.

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

from agent_feedback import files
from agent_feedback.envelope import FIELD
from agent_feedback.options import LOOPBACK
from agent_feedback.transport import Answer, Transport

TIMEOUT_S = 10.0
RETRY_PAUSE_S = 0.5


class FeedbackRefused(Exception):
    """The service did not take it; `status` and `body` say why."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"status {status}: {body.get('error') if isinstance(body, dict) else body}")
        self.status, self.body = status, body


class Envelope:
    """An envelope that was found in a response."""

    def __init__(self, content: Mapping[str, Any], allowed_origins: Sequence[str]) -> None:
        if isinstance(allowed_origins, str):
            raise TypeError("allowed_origins is a list of origins")
        self.content = content
        self._allowed = {_origin(url) for url in allowed_origins}

    @property
    def state(self) -> str:
        """`feedback_ready` means that a review may be sent."""
        return str(self.content.get("state"))

    def submit_outcome(self, outcome: str, note: str) -> dict[str, Any]:
        """Send the review and return the service's answer; retries once after a 5xx or a network error.

        Raises ValueError for what the published bounds do not allow, `FeedbackRefused` for what the service refuses,
        and ConnectionError if it cannot be reached.
        """
        action = self.content.get("submitOutcome")
        if not isinstance(action, dict):
            raise ValueError(f"nothing may be submitted in the state {self.state}")
        note = " ".join(note.split())
        try:
            url, authorization = str(action["url"]), str(action["authorization"])
            outcomes, bounds = action["bodySchema"]["outcome"], action["bodySchema"]["note"]
            is_known, is_fitting = outcome in outcomes, bounds["minLength"] <= len(note) <= bounds["maxLength"]
        except (KeyError, TypeError):
            raise ValueError("this envelope does not say how to submit") from None
        if not is_known:
            raise ValueError(f"outcome must be one of {', '.join(map(str, outcomes))}")
        if not is_fitting:
            raise ValueError(f"note must have {bounds['minLength']} to {bounds['maxLength']} characters")
        return self._post(url, authorization, json.dumps({"outcome": outcome, "note": note}).encode())

    @property
    def question(self) -> str | None:
        """The exact question to ask the user, in the state `consent_required`."""
        action = self.content.get("requiredAction")
        return str(action["question"]) if isinstance(action, dict) and action.get("question") else None

    def introspect(self) -> dict[str, Any]:
        """Ask the service what stands; its answer is authoritative, and is asked for before any question is shown."""
        url, authorization = self._any_action()
        path = files.read("contract.json")["paths"]["introspect"]
        return self._post(_origin(url) + path, authorization, b"{}")

    def decide(self, decision: str) -> dict[str, Any]:
        """Submit what the user said, `approved` or `declined`; an approval brings the contract to go on with."""
        action = self.content.get("requiredAction") or {}
        asked = action.get("submitDecision") or self.content.get("manageConsent")
        if not isinstance(asked, dict):
            raise ValueError(f"nothing is to be decided in the state {self.state}")
        if decision not in asked["bodySchema"]["decision"]:
            raise ValueError(f"decision must be one of {', '.join(asked['bodySchema']['decision'])}")
        body = json.dumps({"decision": decision}).encode()
        decided = self._post(str(asked["url"]), str(asked["authorization"]), body)
        if isinstance(decided.get("feedback"), dict):
            self.content = decided["feedback"]
        return decided

    def submit_report(self, summary: str, **details: Any) -> dict[str, Any]:
        """Send a report with its findings; the bounds are in `content["submit"]["reportSchema"]`."""
        action = self.content.get("submit")
        if not isinstance(action, dict):
            raise ValueError(f"nothing may be submitted in the state {self.state}")
        bounds, summary = action["reportSchema"], " ".join(summary.split())
        unknown = set(details) - set(bounds["optional"])
        if unknown:
            raise ValueError(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(bounds['optional'])}")
        if not bounds["summaryMinLength"] <= len(summary) <= bounds["summaryMaxLength"]:
            raise ValueError(
                f"summary must have {bounds['summaryMinLength']} to {bounds['summaryMaxLength']} characters"
            )
        body = json.dumps({"summary": summary, **details}).encode()
        return self._post(str(action["url"]), str(action["authorization"]), body)

    def _any_action(self) -> tuple[str, str]:
        required = self.content.get("requiredAction") or {}
        actions = (*(self.content.get(name) for name in ("submit", "manageConsent")), required.get("submitDecision"))
        for action in actions:
            if isinstance(action, dict):
                return str(action["url"]), str(action["authorization"])
        raise ValueError("this envelope has no capability")

    def _post(self, url: str, authorization: str, body: bytes) -> dict[str, Any]:
        origin, parts = _origin(url), urlsplit(url)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
        if origin not in self._allowed or not is_safe:
            raise ValueError(f"{origin} is not an allowed origin")
        transport = Transport(origin, TIMEOUT_S)
        headers = {"Authorization": authorization}
        try:
            answer = _try(transport, parts.path, body, headers)
            if answer is None or answer.status >= 500:
                transport.close()
                time.sleep(RETRY_PAUSE_S)
                answer = _try(transport, parts.path, body, headers)
        finally:
            transport.close()
        if answer is None:
            raise ConnectionError(f"{origin} could not be reached")
        content = _content(answer.body)
        if answer.status != 200 or not isinstance(content, dict):
            raise FeedbackRefused(answer.status, content)
        return content


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
    body = response if isinstance(response, (bytes, bytearray, str)) else getattr(response, "content", None)
    try:
        return json.loads(body or b"null")
    except (ValueError, TypeError, RecursionError):
        return None


def _content(body: bytes) -> Any:
    """Return a service's answer: JSON, or else its first words, which may come from a proxy in between."""
    try:
        return json.loads(body or b"null")
    except (ValueError, RecursionError):
        return body[:200].decode("utf-8", "replace")


def _try(transport: Transport, path: str, body: bytes, headers: Mapping[str, str]) -> Answer | None:
    try:
        return transport.post(path, body, headers)
    except (OSError, http.client.HTTPException):
        return None


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
