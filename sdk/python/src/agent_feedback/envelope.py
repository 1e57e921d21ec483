"""Build the `_agentFeedback` envelope in each of its states from the texts and bounds of the protocol files."""

from datetime import datetime, timezone
from typing import Any, NamedTuple

from agent_feedback import protocol_files

FIELD = "_agentFeedback"

Content = dict[str, Any]


class EnvelopeContext(NamedTuple):
    """The facts that one envelope depends on."""

    endpoint: str
    capability: str
    expires_at: int
    """Seconds since 1970."""
    mode: str
    has_customer: bool = False
    """Whether the response belongs to a customer, so that a decision can be stored for later uses."""
    decision: str = "unknown"
    """The customer's consent decision as this process has cached it: unknown, approved or declined."""
    service_name: str = "Agent Feedback"


def build(context: EnvelopeContext) -> Content:
    """Return the envelope of a context."""
    if context.mode == "never_ask":
        return _ready(context, {})
    consent = {"configuredMode": context.mode, "consentManagedBy": "service"}
    if context.mode == "ask_always" or not context.has_customer:
        return _ask(context, consent, "always")
    if context.decision == "approved":
        return {**_ready(context, consent), "manageConsent": _manage(context, "approved")}
    if context.decision == "declined":
        return _disabled(context, consent)
    return _ask(context, consent, "once")


def _ready(context: EnvelopeContext, consent: Content) -> Content:
    contract = protocol_files.read("contract.json")
    return {
        **_base(context, "never_ask", "feedback_ready", requires=False, policy="none"),
        **consent,
        "when": contract["when"]["feedback_ready"],
        "submitOutcome": {**_action(context, "outcomes"), "bodySchema": contract["outcomeBody"]},
        "submit": {**_action(context, "reports"), "reportSchema": contract["reportSchema"]},
    }


def _ask(context: EnvelopeContext, consent: Content, policy: str) -> Content:
    contract, texts = protocol_files.read("contract.json"), protocol_files.read("instructions.json")
    mode = "ask_once" if policy == "once" else "ask_always"
    return {
        **_base(context, mode, "consent_required", requires=True, policy=policy),
        **consent,
        "when": contract["when"][policy],
        "requiredAction": {
            "type": "ask_user",
            "question": texts["questions"][policy].replace("{service}", context.service_name),
            "submitDecision": {**_action(context, "decisions"), "bodySchema": contract["decisionBody"]},
        },
    }


def _disabled(context: EnvelopeContext, consent: Content) -> Content:
    return {
        **_base(context, "ask_once", "feedback_disabled", requires=False, policy="once"),
        **consent,
        "requested": False,
        "when": protocol_files.read("contract.json")["when"]["feedback_disabled"],
        "manageConsent": _manage(context, "declined"),
    }


def _manage(context: EnvelopeContext, current: str) -> Content:
    body = protocol_files.read("contract.json")["decisionBody"]
    return {"current": current, **_action(context, "decisions"), "bodySchema": body}


def _base(context: EnvelopeContext, mode: str, state: str, *, requires: bool, policy: str) -> Content:
    contract, texts = protocol_files.read("contract.json"), protocol_files.read("instructions.json")
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
        "expiresAt": datetime.fromtimestamp(context.expires_at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _action(context: EnvelopeContext, path: str) -> Content:
    contract = protocol_files.read("contract.json")
    return {
        "url": context.endpoint + contract["paths"][path],
        "method": "POST",
        "authorization": f"Bearer {context.capability}",
        "contentType": contract["contentType"],
    }
