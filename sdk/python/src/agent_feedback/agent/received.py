"""What an agent has received in a response, and the feedback that may be sent for it."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from agent_feedback import protocol_files
from agent_feedback.agent import requests
from agent_feedback.agent.context_action import ContextAction
from agent_feedback.agent.response import find_header, read_members
from agent_feedback.agent.validation import check_decision, checked_outcome, checked_report
from agent_feedback.errors import InvalidOption

_CONTRACT = protocol_files.read("contract.json")
_INTERACTION_HEADER: str = _CONTRACT["headers"]["contextInteraction"]
_SENDING_ACTIONS = ("submitOutcome", "submit")


class Received:
    """What an agent received in a response: the feedback envelope, a context action, or both.

    Every call raises InvalidOption, before anything is sent, for what the envelope does not allow; `ServiceRefused` for
    what the service refuses; `ServiceUnavailable` if no answer arrives, also when asked once more.
    """

    def __init__(
        self,
        content: Mapping[str, Any],
        allowed_origins: Sequence[str],
        context: ContextAction | None = None,
        retry_headers: Mapping[str, str] | None = None,
        place: str | None = None,
    ) -> None:
        if isinstance(allowed_origins, str):
            raise TypeError("allowed_origins is a list of origins")
        self.content, self.context, self.place = content, context, place
        self.retry_headers = dict(retry_headers or {})
        """The headers to send when the same operation is retried after an answer."""
        self._allowed_origins = {requests.origin_of(url) for url in allowed_origins}

    @property
    def state(self) -> str:
        """The envelope's state: `feedback_ready` allows a review; `not_requested` stands for no envelope."""
        return str(self.content.get("state", "not_requested"))

    @property
    def question(self) -> str | None:
        """The consent question to ask the user word for word, in the state `consent_required`."""
        action = self.content.get("requiredAction")
        return str(action["question"]) if isinstance(action, dict) and action.get("question") else None

    @property
    def service_origin(self) -> str | None:
        """The origin that feedback goes to, or None for an envelope without a usable action."""
        action = self._find_action() or {}
        with suppress(InvalidOption):
            return requests.origin_of(action["url"]) if isinstance(action.get("url"), str) else None
        return None

    @property
    def is_allowed(self) -> bool:
        """Whether feedback may be sent to the origin that the envelope names."""
        return self.service_origin in self._allowed_origins

    def allow(self, origin: str) -> None:
        """Allow an origin to get feedback, as the agent's owner has decided."""
        self._allowed_origins.add(requests.origin_of(origin))

    def answer(self, items: Sequence[Mapping[str, Any]], status: str = "answered") -> dict[str, Any]:
        """Answer the context action; see `ContextAction.answer`."""
        return self._context_action().answer(items, status)

    def decline_context(self) -> dict[str, Any]:
        """Send the user's refusal of context requests; see `ContextAction.decide`."""
        return self._context_action().decide("declined")

    def submit_outcome(self, outcome: str, note: str) -> dict[str, Any]:
        """Send the review and return the service's answer."""
        action = self._action("submitOutcome")
        body = checked_outcome(outcome, note, action.get("bodySchema"))
        return self._post(action, body)

    def preview_outcome(self, outcome: str, note: str) -> dict[str, Any]:
        """Return what the service would store of a review; it is checked like one that is sent, and not stored."""
        action = self._action("submitOutcome")
        body = checked_outcome(outcome, note, action.get("bodySchema"))
        return self._post(action, body, "outcomesPreview")

    def submit_report(self, /, summary: str, **details: Any) -> dict[str, Any]:
        """Send a report within the bounds of `content["submit"]["reportSchema"]` and return the service's answer."""
        action = self._action("submit")
        body = checked_report({"summary": summary, **details}, action.get("reportSchema"))
        return self._post(action, body)

    def preview_report(self, /, summary: str, **details: Any) -> dict[str, Any]:
        """Return what the service would store of a report; it is checked like one that is sent, and not stored."""
        action = self._action("submit")
        body = checked_report({"summary": summary, **details}, action.get("reportSchema"))
        return self._post(action, body, "reportsPreview")

    def introspect(self) -> dict[str, Any]:
        """Return the service's own view of the capability, which counts before the consent question is asked.

        The content follows it: a question that is answered already disappears, and an approval brings its actions.
        """
        action = self._find_action()
        if action is None:
            raise InvalidOption("this envelope has no capability")
        answer = self._post(action, {}, "introspect")
        self._follow(answer)
        return answer

    def decide(self, decision: str) -> dict[str, Any]:
        """Send the user's decision, `approved` or `declined`, after an introspection; the content follows the answer.

        It answers the question of `requiredAction` while the service says that it stands, or, where the user has asked
        for it, changes the choice of `manageConsent`.
        """
        action = _submit_decision(self.content)
        if action is None:
            raise InvalidOption(f"nothing is to be decided in the state {self.state}")
        check_decision(decision, action.get("bodySchema"))
        is_question = self.question is not None
        state = self.introspect().get("state")
        if is_question and state != "consent_required":
            raise InvalidOption(f"no question stands: the service says {state}")
        answer = self._post(action, {"decision": decision})
        self._follow(answer)
        return answer

    def _context_action(self) -> ContextAction:
        if self.context is None:
            raise InvalidOption("this response has no context action")
        return self.context

    def _action(self, name: str) -> Mapping[str, Any]:
        action = self.content.get(name)
        if not isinstance(action, dict):
            raise InvalidOption(f"nothing may be submitted in the state {self.state}")
        return action

    def _find_action(self) -> Mapping[str, Any] | None:
        """Return any action of the envelope: all have the same credential."""
        actions = (*(self.content.get(name) for name in _SENDING_ACTIONS), _submit_decision(self.content))
        return next((action for action in actions if isinstance(action, dict)), None)

    def _post(self, action: Mapping[str, Any], body: Mapping[str, Any], path: str | None = None) -> dict[str, Any]:
        """Post to the URL of an action, or to another path of the same service."""
        try:
            url, authorization = str(action["url"]), str(action["authorization"])
        except KeyError:
            raise InvalidOption("this envelope does not say how to submit") from None
        origin = requests.origin_of(url)
        if origin not in self._allowed_origins or not requests.is_safe(url):
            raise InvalidOption(f"{origin} is not an allowed origin")
        target = url if path is None else requests.service_url(url, path)
        return requests.post(target, authorization, json.dumps(body, allow_nan=False).encode())

    def _follow(self, answer: Mapping[str, Any]) -> None:
        """Bring the content to the state that the service answered with."""
        state, feedback, submit = (answer.get(name) for name in ("state", "feedback", "submit"))
        others = {name: value for name, value in self.content.items() if name != "requiredAction"}
        if isinstance(feedback, dict):
            self.content = feedback
        elif state == "declined":
            others = {name: value for name, value in others.items() if name not in _SENDING_ACTIONS}
            self.content = {**others, "state": "feedback_disabled"}
        elif state == "feedback_ready" and self.question is not None:
            actions = _sending_actions(submit) if isinstance(submit, dict) else {}
            self.content = {**others, "state": state, **actions}
        elif self.question is not None and isinstance(answer.get("canonicalQuestion"), str):
            # The service's own words, whatever the product has made of them.
            action = {**self.content["requiredAction"], "question": answer["canonicalQuestion"]}
            self.content = {**others, "requiredAction": action}


def from_response(response: Any, *, allowed_origins: Sequence[str], url: str | None = None) -> Received | None:
    """Return the envelope and the context action of a response, or None without either.

    `response` is a response of requests or httpx, a page of `fetch`, a parsed JSON object, or the bytes or the text of
    a body; the latter three need the `url` of the response if a context action is to be answered.
    """
    members = read_members(response)
    if members.envelope is None and members.context is None:
        return None
    response_url = url or str(getattr(response, "url", ""))
    context = ContextAction(members.context, response_url) if members.context is not None else None
    interaction = find_header(response, _INTERACTION_HEADER)
    retry_headers = {_INTERACTION_HEADER: interaction} if interaction else None
    return Received(members.envelope or {}, allowed_origins, context, retry_headers, members.place)


def _submit_decision(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the action for a decision: the answer to the question, or else the change of a choice."""
    required_action = content.get("requiredAction")
    action = required_action.get("submitDecision") if isinstance(required_action, dict) else None
    action = action or content.get("manageConsent")
    return action if isinstance(action, dict) else None


def _sending_actions(submit: Mapping[str, Any]) -> dict[str, Any]:
    """Return the two actions of an approval of which an introspection names only that for reports."""
    outcome = {name: value for name, value in submit.items() if name != "reportSchema"}
    outcome["url"] = requests.service_url(str(submit.get("url")), "outcomes")
    outcome["bodySchema"] = _CONTRACT["outcomeBody"]
    return {"submitOutcome": outcome, "submit": submit}
