"""The agent's side of customer context: the action in a response, answered at the product's own origin."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

from agent_feedback import protocol_files
from agent_feedback.agent import requests
from agent_feedback.errors import InvalidOption

ITEM_MEMBERS: Sequence[str] = protocol_files.read("contract.json")["relay"]["bodies"][
    "/_service/v1/enrichment/answers"
]["items"]
_MEMBERS_OF_STATE = ("state", "stageInstruction", "answerInstruction", "submit")


class ContextAction:
    """A product's request for context, answered in the words of its catalog."""

    def __init__(self, content: Mapping[str, Any], response_url: str) -> None:
        self.content = dict(content)
        self._response_url = response_url

    @property
    def state(self) -> str:
        """The state of the request; in `answer_ready` an answer may be sent."""
        return str(self.content.get("state"))

    @property
    def instruction(self) -> str:
        """The service's instruction for this state."""
        return str(self.content.get("stageInstruction") or "")

    @property
    def catalog(self) -> list[dict[str, Any]]:
        """The fields that may be answered, each with its `key` and `allowedValues`."""
        submit = self.content.get("submit")
        schema = submit.get("bodySchema") if isinstance(submit, dict) else None
        catalog = schema.get("catalog") if isinstance(schema, dict) else None
        return [entry for entry in catalog if isinstance(entry, dict)] if isinstance(catalog, list) else []

    def answer(self, items: Sequence[Mapping[str, Any]], status: str = "answered") -> dict[str, Any]:
        """Send an answer and return the service's; the type of an item is taken from the catalog.

        Each item has `key`, `value` and `provenance`, and may have `confidence`, `remember` and `expiresAt`.
        Raise InvalidOption for an answer that the action does not allow, `ServiceRefused` or `ServiceUnavailable`.
        """
        action = self.content.get("submit")
        if not isinstance(action, dict):
            raise InvalidOption(f"nothing may be answered in the state {self.state}")
        try:
            typed_items = [self._add_type(item) for item in items]
            _check(status, typed_items, action["bodySchema"])
        except (KeyError, TypeError, AttributeError):
            raise InvalidOption("this action does not publish its bounds") from None
        return self._post(action, {"status": status, "items": typed_items})

    def decide(self, decision: str, remember: bool | None = None) -> dict[str, Any]:
        """Send the user's decision on such requests, `approved` or `declined`, and return the service's answer.

        The service stores a refusal for every later request about the same customer.
        """
        action = self.content.get("consent")
        if not isinstance(action, dict):
            raise InvalidOption(f"nothing is to be decided in the state {self.state}")
        try:
            decisions = [str(name) for name in action["bodySchema"]["decision"]]
        except (KeyError, TypeError):
            raise InvalidOption("this action does not publish its bounds") from None
        if decision not in decisions:
            raise InvalidOption(f"decision must be one of {', '.join(decisions)}")
        body = {"decision": decision} if remember is None else {"decision": decision, "remember": remember}
        answer = self._post(action, body)
        self.content.update((name, answer[name]) for name in _MEMBERS_OF_STATE if name in answer)
        return answer

    def _add_type(self, item: Mapping[str, Any]) -> dict[str, Any]:
        entry = next((entry for entry in self.catalog if entry.get("key") == item.get("key")), None)
        if entry is None:
            raise InvalidOption(f"key must be one of {', '.join(str(entry.get('key')) for entry in self.catalog)}")
        if item.get("value") not in entry["allowedValues"]:
            raise InvalidOption(f"the value of {entry['key']} must be one of {', '.join(entry['allowedValues'])}")
        if item.get("type", entry["type"]) != entry["type"]:
            raise InvalidOption(f"the type of {entry['key']} is {entry['type']}")
        return {**item, "type": entry["type"]}

    def _post(self, action: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
        url = urljoin(self._response_url, str(action.get("url")))
        # Answers go to the origin of the response: a product never sends its agents elsewhere.
        if requests.origin_of(url) != requests.origin_of(self._response_url) or not requests.is_safe(url):
            raise InvalidOption(f"{requests.origin_of(url)} is not the product's own origin")
        text = json.dumps(body, allow_nan=False).encode()
        return requests.post(url, str(action.get("authorization")), text)


def _check(status: str, items: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> None:
    """Raise InvalidOption for an answer that the action's schema does not allow."""
    bounds = schema["items"]
    if status not in schema["status"]:
        raise InvalidOption(f"status must be one of {', '.join(schema['status'])}")
    if bool(items) != (status == "answered"):
        raise InvalidOption("items are needed for the status answered, and for no other")
    if len(items) > bounds["maximum"]:
        raise InvalidOption(f"at most {bounds['maximum']} items can be sent")
    for item in items:
        is_complete = all(name in item for name in bounds["required"])
        if not is_complete or not item.keys() <= set(ITEM_MEMBERS):
            raise InvalidOption(f"an item has {', '.join(bounds['required'])}, and may have {', '.join(ITEM_MEMBERS)}")
        if item["provenance"] not in bounds["provenance"]:
            raise InvalidOption(f"provenance must be one of {', '.join(bounds['provenance'])}")
        confidence = item.get("confidence", 0)
        if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 <= confidence <= 1:
            raise InvalidOption("confidence is a number from 0 to 1")
