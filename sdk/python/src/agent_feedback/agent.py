"""The agent's side: find what a response asks for, ask the user if it says so, and send one compact answer.

from agent_feedback.agent import from_response

found = from_response(response, allowed_origins=["https://feedback.example"])
if found and found.state == "feedback_ready":
    found.submit_outcome("success", "All twelve orders matched what the documentation promised.")
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agent_feedback import agent_calls, files, questions
from agent_feedback.agent_calls import FeedbackRefused
from agent_feedback.agent_context import ContextQuestion
from agent_feedback.asking import HEADER
from agent_feedback.envelope import FIELD
from agent_feedback.reading import read_members

__all__ = ["ContextQuestion", "Envelope", "FeedbackRefused", "from_response"]


class Envelope:
    """What was found in a response: the envelope of feedback, a question about the customer, or both."""

    def __init__(
        self,
        content: Mapping[str, Any],
        allowed_origins: Sequence[str],
        context: ContextQuestion | None = None,
        retry_headers: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(allowed_origins, str):
            raise TypeError("allowed_origins is a list of origins")
        self.content, self.context = content, context
        self.retry_headers = dict(retry_headers or {})
        """What to send along when the same operation is repeated at once after an answer."""
        self._allowed = {agent_calls.origin(url) for url in allowed_origins}

    @property
    def state(self) -> str:
        """`feedback_ready` means that a review may be sent; `not_requested`, that there is a question only."""
        return str(self.content.get("state", "not_requested"))

    def answer(self, items: Sequence[Mapping[str, Any]], status: str = "answered") -> dict[str, Any]:
        """Answer the product's question; see `ContextQuestion.answer`."""
        return self._question().answer(items, status)

    def decline_context(self) -> dict[str, Any]:
        """Tell that the user does not want such questions; a refusal of a known user stays."""
        return self._question().decide("declined")

    def _question(self) -> ContextQuestion:
        if self.context is None:
            raise ValueError("this response asks nothing about the customer")
        return self.context

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
        return self._post(agent_calls.origin(url) + path, authorization, b"{}")

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
        origin = agent_calls.origin(url)
        if origin not in self._allowed or not agent_calls.is_safe(url):
            raise ValueError(f"{origin} is not an allowed origin")
        return agent_calls.post(url, authorization, body)


def from_response(response: Any, *, allowed_origins: Sequence[str], url: str | None = None) -> Envelope | None:
    """Return what a response asks for, or None.

    `response` is a response of requests or httpx, a parsed JSON object, or the bytes of one; the latter need the `url`
    that they came from, if a question about the customer is to be answered.
    """
    members = read_members(response)
    found = members.get(FIELD)
    feedback = found if isinstance(found, dict) and found.get("v") == 1 else None
    context = _question(members.get(questions.FIELD), url or str(getattr(response, "url", "")))
    if feedback is None and context is None:
        return None
    headers: Any = getattr(response, "headers", None)
    interaction = headers.get(HEADER) if hasattr(headers, "get") else None
    return Envelope(feedback or {}, allowed_origins, context, {HEADER: interaction} if interaction else None)


def _question(service: Any, url: str) -> ContextQuestion | None:
    content = service.get(questions.MEMBER) if isinstance(service, dict) else None
    return ContextQuestion(content, url) if isinstance(content, dict) else None
