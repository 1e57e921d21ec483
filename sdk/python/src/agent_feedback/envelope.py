"""Build the `_agentFeedback` envelope in each of its states from the texts and bounds of the protocol files."""

import json
from functools import lru_cache
from typing import Any, NamedTuple

from agent_feedback import protocol_files
from agent_feedback.timestamps import whole_timestamp

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


def encode(context: EnvelopeContext) -> str:
    """Return the envelope of a context as JSON.

    Only the capability and its end differ between the responses of a product, so all the rest is encoded once.
    """
    endpoint, capability, expires_at, *others = context
    text = _encode_template(endpoint, *others)
    text = text.replace(_AUTHORIZATION, f'"authorization":"Bearer {capability}"')
    return text.replace(_EXPIRES_AT, f'"expiresAt":"{whole_timestamp(expires_at)}"')


# Within a string every quotation mark is escaped, so no text of the envelope contains one of these.
_AUTHORIZATION = '"authorization":"Bearer "'
_EXPIRES_AT = f'"expiresAt":"{whole_timestamp(0)}"'


# One for each mode and decision, times the endpoints of the process.
@lru_cache(maxsize=32)
def _encode_template(endpoint: str, mode: str, has_customer: bool, decision: str, service_name: str) -> str:
    context = EnvelopeContext(endpoint, "", 0, mode, has_customer, decision, service_name)
    return json.dumps(build(context), separators=(",", ":"))


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
        "expiresAt": whole_timestamp(context.expires_at),
    }


def _action(context: EnvelopeContext, path: str) -> Content:
    contract = protocol_files.read("contract.json")
    return {
        "url": context.endpoint + contract["paths"][path],
        "method": "POST",
        "authorization": f"Bearer {context.capability}",
        "contentType": contract["contentType"],
    }
