"""The agent's side: read what a response requests, ask the user where it says so, and send feedback.

from agent_feedback.agent import from_response

received = from_response(response, allowed_origins=["https://feedback.example"])
if received and received.state == "feedback_ready":
    received.submit_outcome("success", "All twelve orders matched what the documentation promised.")
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agent_feedback import agent_http, protocol_files
from agent_feedback.agent_context import ContextAction
from agent_feedback.agent_response import read_members
from agent_feedback.context.action import MEMBER
from agent_feedback.context.interaction import HEADER
from agent_feedback.delivery import SERVICE
from agent_feedback.envelope import FIELD

__all__ = ["ContextAction", "Received", "from_response"]


class Received:
    """What an agent received in a response: the feedback envelope, a context action, or both."""

    def __init__(
        self,
        content: Mapping[str, Any],
        allowed_origins: Sequence[str],
        context: ContextAction | None = None,
        retry_headers: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(allowed_origins, str):
            raise TypeError("allowed_origins is a list of origins")
        self.content, self.context = content, context
        self.retry_headers = dict(retry_headers or {})
        """The headers to send when the same operation is retried after an answer."""
        self._allowed_origins = {agent_http.origin_of(url) for url in allowed_origins}

    @property
    def state(self) -> str:
        """The envelope's state: `feedback_ready` allows a review; `not_requested` stands for no envelope."""
        return str(self.content.get("state", "not_requested"))

    def answer(self, items: Sequence[Mapping[str, Any]], status: str = "answered") -> dict[str, Any]:
        """Answer the context action; see `ContextAction.answer`."""
        return self._context_action().answer(items, status)

    def decline_context(self) -> dict[str, Any]:
        """Send the user's refusal of context requests; see `ContextAction.decide`."""
        return self._context_action().decide("declined")

    def _context_action(self) -> ContextAction:
        if self.context is None:
            raise ValueError("this response has no context action")
        return self.context

    def submit_outcome(self, outcome: str, note: str) -> dict[str, Any]:
        """Send the review and return the service's answer; a 5xx or a network error is retried once.

        Raise ValueError for a review outside the published bounds, before anything is sent; `ServiceRefused` for one
        that the service refuses; `ServiceUnavailable` if no answer arrives.
        """
        action = self.content.get("submitOutcome")
        if not isinstance(action, dict):
            raise ValueError(f"nothing may be submitted in the state {self.state}")
        note = " ".join(note.split())
        try:
            url, authorization = str(action["url"]), str(action["authorization"])
            outcomes, bounds = action["bodySchema"]["outcome"], action["bodySchema"]["note"]
            has_outcome, has_length = outcome in outcomes, bounds["minLength"] <= len(note) <= bounds["maxLength"]
        except (KeyError, TypeError):
            raise ValueError("this envelope does not say how to submit") from None
        if not has_outcome:
            raise ValueError(f"outcome must be one of {', '.join(map(str, outcomes))}")
        if not has_length:
            raise ValueError(f"note must have {bounds['minLength']} to {bounds['maxLength']} characters")
        return self._post(url, authorization, json.dumps({"outcome": outcome, "note": note}).encode())

    @property
    def question(self) -> str | None:
        """The consent question to ask the user word for word, in the state `consent_required`."""
        action = self.content.get("requiredAction")
        return str(action["question"]) if isinstance(action, dict) and action.get("question") else None

    def introspect(self) -> dict[str, Any]:
        """Return the service's own view of the capability, which counts before the consent question is asked."""
        url, authorization = self._credentials()
        path = protocol_files.read("contract.json")["paths"]["introspect"]
        return self._post(agent_http.origin_of(url) + path, authorization, b"{}")

    def decide(self, decision: str) -> dict[str, Any]:
        """Send the user's decision, `approved` or `declined`; an approval replaces the content by the answer's."""
        required_action = self.content.get("requiredAction") or {}
        action = required_action.get("submitDecision") or self.content.get("manageConsent")
        if not isinstance(action, dict):
            raise ValueError(f"nothing is to be decided in the state {self.state}")
        if decision not in action["bodySchema"]["decision"]:
            raise ValueError(f"decision must be one of {', '.join(action['bodySchema']['decision'])}")
        body = json.dumps({"decision": decision}).encode()
        answer = self._post(str(action["url"]), str(action["authorization"]), body)
        if isinstance(answer.get("feedback"), dict):
            self.content = answer["feedback"]
        return answer

    def submit_report(self, summary: str, **details: Any) -> dict[str, Any]:
        """Send a report within the bounds of `content["submit"]["reportSchema"]` and return the service's answer."""
        action = self.content.get("submit")
        if not isinstance(action, dict):
            raise ValueError(f"nothing may be submitted in the state {self.state}")
        bounds, summary = action["reportSchema"], " ".join(summary.split())
        unknown_names = set(details) - set(bounds["optional"])
        if unknown_names:
            raise ValueError(
                f"there is no {', '.join(sorted(unknown_names))}; there are {', '.join(bounds['optional'])}"
            )
        if not bounds["summaryMinLength"] <= len(summary) <= bounds["summaryMaxLength"]:
            raise ValueError(
                f"summary must have {bounds['summaryMinLength']} to {bounds['summaryMaxLength']} characters"
            )
        body = json.dumps({"summary": summary, **details}).encode()
        return self._post(str(action["url"]), str(action["authorization"]), body)

    def _credentials(self) -> tuple[str, str]:
        """Return the URL and the authorization of any action of the envelope."""
        required_action = self.content.get("requiredAction") or {}
        actions = (
            *(self.content.get(name) for name in ("submit", "manageConsent")),
            required_action.get("submitDecision"),
        )
        for action in actions:
            if isinstance(action, dict):
                return str(action["url"]), str(action["authorization"])
        raise ValueError("this envelope has no capability")

    def _post(self, url: str, authorization: str, body: bytes) -> dict[str, Any]:
        origin = agent_http.origin_of(url)
        if origin not in self._allowed_origins or not agent_http.is_safe(url):
            raise ValueError(f"{origin} is not an allowed origin")
        return agent_http.post(url, authorization, body)


def from_response(response: Any, *, allowed_origins: Sequence[str], url: str | None = None) -> Received | None:
    """Return the envelope and the context action of a response, or None without either.

    `response` is a response of requests or httpx, a parsed JSON object, or the bytes of one; the latter need the `url`
    of the response if a context action is to be answered.
    """
    members = read_members(response)
    member = members.get(FIELD)
    envelope = member if isinstance(member, dict) and member.get("v") == 1 else None
    context = _read_action(members.get(SERVICE), url or str(getattr(response, "url", "")))
    if envelope is None and context is None:
        return None
    headers: Any = getattr(response, "headers", None)
    interaction = headers.get(HEADER) if hasattr(headers, "get") else None
    return Received(envelope or {}, allowed_origins, context, {HEADER: interaction} if interaction else None)


def _read_action(member: Any, url: str) -> ContextAction | None:
    content = member.get(MEMBER) if isinstance(member, dict) else None
    return ContextAction(content, url) if isinstance(content, dict) else None
