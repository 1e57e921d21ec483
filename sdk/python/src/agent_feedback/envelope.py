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
        return _build_ready(context, {})
    consent = {"configuredMode": context.mode, "consentManagedBy": "service"}
    if context.mode == "ask_always" or not context.has_customer:
        return _build_consent_request(context, consent, "always")
    if context.decision == "approved":
        return {**_build_ready(context, consent), "manageConsent": _manage_action(context, "approved")}
    if context.decision == "declined":
        return _build_disabled(context, consent)
    return _build_consent_request(context, consent, "once")


def _build_ready(context: EnvelopeContext, consent: Content) -> Content:
    contract = protocol_files.read("contract.json")
    return {
        **_common_members(context, "never_ask", "feedback_ready", is_consent_required=False, policy="none"),
        **consent,
        "when": contract["when"]["feedback_ready"],
        "submitOutcome": {**_action(context, "outcomes"), "bodySchema": contract["outcomeBody"]},
        "submit": {**_action(context, "reports"), "reportSchema": contract["reportSchema"]},
    }


def _build_consent_request(context: EnvelopeContext, consent: Content, policy: str) -> Content:
    contract, texts = protocol_files.read("contract.json"), protocol_files.read("instructions.json")
    mode = "ask_once" if policy == "once" else "ask_always"
    return {
        **_common_members(context, mode, "consent_required", is_consent_required=True, policy=policy),
        **consent,
        "when": contract["when"][policy],
        "requiredAction": {
            "type": "ask_user",
            "question": texts["questions"][policy].replace("{service}", context.service_name),
            "submitDecision": {**_action(context, "decisions"), "bodySchema": contract["decisionBody"]},
        },
    }


def _build_disabled(context: EnvelopeContext, consent: Content) -> Content:
    return {
        **_common_members(context, "ask_once", "feedback_disabled", is_consent_required=False, policy="once"),
        **consent,
        "requested": False,
        "when": protocol_files.read("contract.json")["when"]["feedback_disabled"],
        "manageConsent": _manage_action(context, "declined"),
    }


def _manage_action(context: EnvelopeContext, current: str) -> Content:
    body = protocol_files.read("contract.json")["decisionBody"]
    return {"current": current, **_action(context, "decisions"), "bodySchema": body}


def _common_members(
    context: EnvelopeContext, mode: str, state: str, *, is_consent_required: bool, policy: str
) -> Content:
    contract, texts = protocol_files.read("contract.json"), protocol_files.read("instructions.json")
    return {
        "v": contract["version"],
        "mode": mode,
        "state": state,
        "requested": True,
        "consentRequired": is_consent_required,
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
