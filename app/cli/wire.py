"""Build the JSON Schemas (2020-12) of request bodies and of the envelope from the service's schemas."""

import re
from typing import NamedTuple

from app.catalog.schemas import NewFieldSchema
from app.consent.schemas import DecisionSchema
from app.context.schemas import ContextQuerySchema
from app.core import protocol
from app.core.wire.json_schema import Json, object_schema
from app.core.wire.schemas import Schema
from app.enrichment.schemas import AnswerSchema, ContextChoiceSchema, NewRequestSchema
from app.evidence.schemas import EvidenceBatchSchema
from app.outcomes.schemas import OutcomeSchema, ReviewSchema
from app.personalization.schemas import NewDecisionSchema, NewOutcomeSchema
from app.reports.schemas import ReportSchema
from app.telemetry.schemas import TelemetryBatchSchema

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_CONTRACT = protocol.read("contract.json")
_TEXTS = protocol.read("instructions.json")

_SYNTAX_CHARACTER = re.compile(r"[\\^$.*+?()\[\]{}|]")


def wire_schemas() -> dict[str, Json]:
    """Return every schema by the name of its file."""
    body_schemas: dict[str, Schema] = {
        "outcome": OutcomeSchema(),
        "review": ReviewSchema(),
        "report": ReportSchema(),
        "decision": DecisionSchema(),
        "telemetry-batch": TelemetryBatchSchema(),
        "field-definition": NewFieldSchema(),
        "enrichment-request": NewRequestSchema(),
        "enrichment-answer": AnswerSchema(),
        "enrichment-choice": ContextChoiceSchema(),
        "context-query": ContextQuerySchema(),
        "personalization-decision": NewDecisionSchema(),
        "personalization-outcome": NewOutcomeSchema(),
        "evidence-batch": EvidenceBatchSchema(),
    }
    schemas = {name: object_schema(schema) for name, schema in body_schemas.items()}
    schemas["envelope"] = {"oneOf": [_variant(variant) for variant in _ENVELOPE_VARIANTS]}
    return {name: {"$schema": DIALECT, "title": name, **schema} for name, schema in sorted(schemas.items())}


class EnvelopeVariant(NamedTuple):
    """One state of the envelope, with the members that depend on it."""

    state: str
    mode: str
    policy: str
    when_key: str
    configured_modes: tuple[str, ...]
    """The environment's modes in which it appears; empty where no consent is needed."""
    actions: tuple[str, ...]


_READY = ("feedback_ready", "never_ask", "none", "feedback_ready")
_SUBMIT = ("submit", "submitOutcome")

_ENVELOPE_VARIANTS = (
    EnvelopeVariant(*_READY, (), _SUBMIT),
    EnvelopeVariant("consent_required", "ask_once", "once", "once", ("ask_once",), ("requiredAction",)),
    EnvelopeVariant(*_READY, ("ask_once",), (*_SUBMIT, "manageConsent")),
    # The envelope that an approval returns: as above, in either mode, without `manageConsent`.
    EnvelopeVariant(*_READY, ("ask_once", "ask_always"), _SUBMIT),
    EnvelopeVariant("feedback_disabled", "ask_once", "once", "feedback_disabled", ("ask_once",), ("manageConsent",)),
    EnvelopeVariant("consent_required", "ask_always", "always", "always", ("ask_once",), ("requiredAction",)),
    EnvelopeVariant("consent_required", "ask_always", "always", "always", ("ask_always",), ("requiredAction",)),
)


def _variant(variant: EnvelopeVariant) -> Json:
    consent: Json = {
        "configuredMode": {"enum": list(variant.configured_modes)},
        "consentManagedBy": {"const": "service"},
    }
    return _closed_object(
        {
            "v": {"const": _CONTRACT["version"]},
            "mode": {"const": variant.mode},
            "state": {"const": variant.state},
            "requested": {"const": variant.state != "feedback_disabled"},
            "consentRequired": {"const": variant.state == "consent_required"},
            "consentPolicy": {"const": variant.policy},
            **(consent if variant.configured_modes else {}),
            "reliability": {"enum": list(_CONTRACT["reliability"].values())},
            "when": {"const": _CONTRACT["when"][variant.when_key]},
            "instruction": {"const": _TEXTS[variant.state]},
            "privacy": {"const": _TEXTS["privacy"]},
            "expiresAt": {"type": "string", "format": "date-time"},
            **{name: _action(name, variant) for name in variant.actions},
        }
    )


def _action(name: str, variant: EnvelopeVariant) -> Json:
    decision = {"bodySchema": {"const": _CONTRACT["decisionBody"]}}
    if name == "submit":
        return _closed_object({**_request("reports"), "reportSchema": {"const": _CONTRACT["reportSchema"]}})
    if name == "submitOutcome":
        return _closed_object({**_request("outcomes"), "bodySchema": {"const": _CONTRACT["outcomeBody"]}})
    if name == "manageConsent":
        current = "declined" if variant.state == "feedback_disabled" else "approved"
        return _closed_object({"current": {"const": current}, **_request("decisions"), **decision})
    question = ".{1,60}".join(map(_escape, _TEXTS["questions"][variant.policy].split("{service}")))
    return _closed_object(
        {
            "type": {"const": "ask_user"},
            "question": {"type": "string", "pattern": f"^{question}$"},
            "submitDecision": _closed_object({**_request("decisions"), **decision}),
        }
    )


def _request(path: str) -> Json:
    return {
        "url": {"type": "string", "pattern": f"^https?://[^/]+(/.*)?{_escape(_CONTRACT['paths'][path])}$"},
        "method": {"const": "POST"},
        "authorization": {"type": "string", "pattern": "^Bearer afr2_"},
        "contentType": {"const": _CONTRACT["contentType"]},
    }


def _escape(text: str) -> str:
    """Return a pattern that matches the text in every regex dialect; `re.escape` writes `\\-`, which some reject."""
    return _SYNTAX_CHARACTER.sub(r"\\\g<0>", text)


def _closed_object(properties: Json) -> Json:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }
