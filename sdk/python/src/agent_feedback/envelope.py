"""The `_agentFeedback` envelope in each of its states, from the protocol's own texts and bounds."""

from datetime import datetime, timezone
from typing import Any, NamedTuple

from agent_feedback import files

FIELD = "_agentFeedback"

Content = dict[str, Any]


class Occasion(NamedTuple):
    """What one envelope is made for."""

    endpoint: str
    capability: str
    expires_at: int
    """Seconds since 1970."""
    mode: str
    has_customer: bool = False
    """Whether the response belongs to a customer whose choice can be remembered."""
    choice: str = "unknown"
    """What that customer chose, as far as this process knows: unknown, approved or declined."""
    service_name: str = "Agent Feedback"


def build(occasion: Occasion) -> Content:
    """Return the envelope for an occasion."""
    if occasion.mode == "never_ask":
        return _ready(occasion, {})
    consent = {"configuredMode": occasion.mode, "consentManagedBy": "service"}
    if occasion.mode == "ask_always" or not occasion.has_customer:
        return _ask(occasion, consent, "always")
    if occasion.choice == "approved":
        return {**_ready(occasion, consent), "manageConsent": _manage(occasion, "approved")}
    if occasion.choice == "declined":
        return _disabled(occasion, consent)
    return _ask(occasion, consent, "once")


def _ready(occasion: Occasion, consent: Content) -> Content:
    contract = files.read("contract.json")
    return {
        **_base(occasion, "never_ask", "feedback_ready", requires=False, policy="none"),
        **consent,
        "when": contract["when"]["feedback_ready"],
        "submitOutcome": {**_action(occasion, "outcomes"), "bodySchema": contract["outcomeBody"]},
        "submit": {**_action(occasion, "reports"), "reportSchema": contract["reportSchema"]},
    }


def _ask(occasion: Occasion, consent: Content, policy: str) -> Content:
    contract, texts = files.read("contract.json"), files.read("instructions.json")
    mode = "ask_once" if policy == "once" else "ask_always"
    return {
        **_base(occasion, mode, "consent_required", requires=True, policy=policy),
        **consent,
        "when": contract["when"][policy],
        "requiredAction": {
            "type": "ask_user",
            "question": texts["questions"][policy].replace("{service}", occasion.service_name),
            "submitDecision": {**_action(occasion, "decisions"), "bodySchema": contract["decisionBody"]},
        },
    }


def _disabled(occasion: Occasion, consent: Content) -> Content:
    return {
        **_base(occasion, "ask_once", "feedback_disabled", requires=False, policy="once"),
        **consent,
        "requested": False,
        "when": files.read("contract.json")["when"]["feedback_disabled"],
        "manageConsent": _manage(occasion, "declined"),
    }


def _manage(occasion: Occasion, current: str) -> Content:
    body = files.read("contract.json")["decisionBody"]
    return {"current": current, **_action(occasion, "decisions"), "bodySchema": body}


def _base(occasion: Occasion, mode: str, state: str, *, requires: bool, policy: str) -> Content:
    contract, texts = files.read("contract.json"), files.read("instructions.json")
    return {
        "v": contract["version"],
        "mode": mode,
        "state": state,
        "requested": True,
        "consentRequired": requires,
        "consentPolicy": policy,
        "reliability": contract["reliability"]["http"],
        "instruction": texts[state],
        "privacy": texts["privacy"],
        "expiresAt": datetime.fromtimestamp(occasion.expires_at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _action(occasion: Occasion, path: str) -> Content:
    contract = files.read("contract.json")
    return {
        "url": occasion.endpoint + contract["paths"][path],
        "method": "POST",
        "authorization": f"Bearer {occasion.capability}",
        "contentType": contract["contentType"],
    }
