"""Build the `_agentFeedback` envelope in each of its states from the texts and bounds of the protocol files."""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypedDict, cast

from agent_feedback import protocol_files
from agent_feedback.timestamps import whole_timestamp

ENVELOPE = "_agentFeedback"

Content = dict[str, Any]


class Envelope(TypedDict, total=False):
    """The `_agentFeedback` member of a response; the state says which of the last four there are."""

    v: int
    mode: str
    state: str
    requested: bool
    consentRequired: bool
    consentPolicy: str
    configuredMode: str
    consentManagedBy: str
    reliability: str
    when: str
    instruction: str
    privacy: str
    expiresAt: str
    submitOutcome: Content
    submit: Content
    requiredAction: Content
    manageConsent: Content


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
    reliability: str = "http"
    """`http`, or `mcp` where the protocol itself offers the tools."""


def build(context: EnvelopeContext) -> Envelope:
    """Return the envelope of a context; empty in the mode `off`, which has none."""
    contract, texts = protocol_files.read("contract.json"), protocol_files.read("instructions.json")
    state = find_state(context.mode, has_customer=context.has_customer, decision=context.decision)
    if state is None:
        return {}
    members = state["members"]
    envelope = {
        "v": contract["version"],
        **members,
        "reliability": contract["reliability"][context.reliability],
        "instruction": texts[members["state"]],
        "privacy": texts["privacy"],
        "expiresAt": whole_timestamp(context.expires_at),
        **{name: _ACTIONS[name](context, state) for name in state["actions"]},
    }
    return cast(Envelope, envelope)


def find_state(mode: str, *, has_customer: bool, decision: str) -> Content | None:
    """Return the row of the contract's table of states that applies, or None."""
    facts = {"mode": mode, "hasCustomer": has_customer, "decision": decision}
    states: dict[str, Content] = protocol_files.read("contract.json")["states"]
    return next((state for state in states.values() if state["applies"].items() <= facts.items()), None)


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
def _encode_template(endpoint: str, *others: Any) -> str:
    context = EnvelopeContext(endpoint, "", 0, *others)
    return json.dumps(build(context), separators=(",", ":"))


def _submit_outcome(context: EnvelopeContext, _: Content) -> Content:
    return {**_action(context, "outcomes"), "bodySchema": protocol_files.read("contract.json")["outcomeBody"]}


def _submit(context: EnvelopeContext, _: Content) -> Content:
    return {**_action(context, "reports"), "reportSchema": protocol_files.read("contract.json")["reportSchema"]}


def _required_action(context: EnvelopeContext, state: Content) -> Content:
    question: str = protocol_files.read("instructions.json")["questions"][state["question"]]
    return {
        "type": "ask_user",
        "question": question.replace("{service}", context.service_name),
        "submitDecision": _submit_decision(context),
    }


def _manage_consent(context: EnvelopeContext, state: Content) -> Content:
    return {"current": state["current"], **_submit_decision(context)}


def _submit_decision(context: EnvelopeContext) -> Content:
    return {**_action(context, "decisions"), "bodySchema": protocol_files.read("contract.json")["decisionBody"]}


def _action(context: EnvelopeContext, path: str) -> Content:
    contract = protocol_files.read("contract.json")
    return {
        "url": context.endpoint + contract["paths"][path],
        "method": "POST",
        "authorization": f"Bearer {context.capability}",
        "contentType": contract["contentType"],
    }


_ACTIONS: Mapping[str, Callable[[EnvelopeContext, Content], Content]] = {
    "submitOutcome": _submit_outcome,
    "submit": _submit,
    "requiredAction": _required_action,
    "manageConsent": _manage_consent,
}
