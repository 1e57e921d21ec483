"""Build the JSON Schemas (2020-12) of the envelope and of every body, in both directions."""

import re
from collections.abc import Iterator

import marshmallow

from app.catalog.schemas import FieldSchema, FieldsSchema, NewFieldSchema
from app.consent.schemas import (
    DecisionResultSchema,
    DecisionSchema,
    IntrospectionSchema,
    SubjectsSchema,
    SubjectStateSchema,
)
from app.context.schemas import ContextQuerySchema, RetrievalSchema
from app.core import protocol
from app.core.http.error_docs import ErrorSchema
from app.core.wire.json_schema import Json, object_schema
from app.core.wire.schemas import Schema
from app.discovery.schemas import DeprecatedDiscoverySchema, DiscoverySchema, ManifestSchema
from app.enrichment.schemas import (
    AcceptedAnswerSchema,
    AnswerSchema,
    ChoiceResultSchema,
    ContextChoiceSchema,
    NewRequestSchema,
    RequestSchema,
)
from app.evidence.schemas import EvidenceBatchSchema, EvidenceReceiptSchema
from app.outcomes.schemas import AcceptedOutcomeSchema, OutcomePreviewSchema, OutcomeSchema, ReviewSchema
from app.personalization.schemas import (
    DecisionReceiptSchema,
    NewDecisionSchema,
    NewOutcomeSchema,
    OutcomeReceiptSchema,
)
from app.reading.schemas import (
    InteractionDetailSchema,
    InteractionPageSchema,
    OperationPageSchema,
    ReportDetailSchema,
    ReportPageSchema,
    ReviewPageSchema,
)
from app.reports.schemas import AcceptedReportSchema, ReportPreviewSchema, ReportSchema
from app.telemetry.schemas import BatchReceiptSchema, TelemetryBatchSchema

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_CONTRACT = protocol.read("contract.json")
_TEXTS = protocol.read("instructions.json")

_SYNTAX_CHARACTER = re.compile(r"[\\^$.*+?()\[\]{}|]")


_REQUESTS: dict[str, Schema] = {
    "outcome": OutcomeSchema(),
    "report": ReportSchema(),
    "decision": DecisionSchema(),
    "consent-state": SubjectsSchema(),
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
"""The bodies that the service takes, which have no other members than these."""

_ANSWERS: dict[str, marshmallow.Schema] = {
    "outcome-response": AcceptedOutcomeSchema(),
    "outcome-preview-response": OutcomePreviewSchema(),
    "review": ReviewSchema(),
    "report-response": AcceptedReportSchema(),
    "report-preview-response": ReportPreviewSchema(),
    "introspection-response": IntrospectionSchema(),
    "decision-response": DecisionResultSchema(),
    "consent-state-response": SubjectStateSchema(),
    "telemetry-batch-response": BatchReceiptSchema(),
    "field-definition-response": FieldSchema(),
    "fields-response": FieldsSchema(),
    "enrichment-request-response": RequestSchema(),
    "enrichment-answer-response": AcceptedAnswerSchema(),
    "enrichment-choice-response": ChoiceResultSchema(),
    "context-query-response": RetrievalSchema(),
    "personalization-decision-response": DecisionReceiptSchema(),
    "personalization-outcome-response": OutcomeReceiptSchema(),
    "evidence-batch-response": EvidenceReceiptSchema(),
    "reviews-response": ReviewPageSchema(),
    "reports-response": ReportPageSchema(),
    "report-detail-response": ReportDetailSchema(),
    "interactions-response": InteractionPageSchema(),
    "interaction-detail-response": InteractionDetailSchema(),
    "operations-response": OperationPageSchema(),
    "error": ErrorSchema(),
    "discovery": DiscoverySchema(),
    "deprecated-discovery": DeprecatedDiscoverySchema(),
    "manifest": ManifestSchema(),
}
"""The bodies that it answers with, which may have more members in a later release."""


def wire_schemas() -> dict[str, Json]:
    """Return every schema by the name of its file."""
    schemas = {name: object_schema(schema) for name, schema in _REQUESTS.items()}
    schemas |= {name: object_schema(schema, is_closed=False) for name, schema in _ANSWERS.items()}
    schemas["envelope"] = {"oneOf": list(_envelope_variants())}
    return {name: {"$schema": DIALECT, "title": name, **schema} for name, schema in sorted(schemas.items())}


def _envelope_variants() -> Iterator[Json]:
    """Yield the schema of each state of the contract's table, and of the answer to an approval."""
    states, approval = _CONTRACT["states"], _CONTRACT["approval"]
    for state in states.values():
        yield _variant(state, state["members"])
    approved = states[approval["state"]]
    actions = [name for name in approved["actions"] if name not in approval["without"]]
    for mode in approval["configuredModes"]:
        yield _variant({**approved, "actions": actions}, {**approved["members"], "configuredMode": mode})


def _variant(state: Json, members: Json) -> Json:
    return _closed_object(
        {
            "v": {"const": _CONTRACT["version"]},
            **{name: {"const": value} for name, value in members.items()},
            "reliability": {"enum": list(_CONTRACT["reliability"].values())},
            "instruction": {"const": _TEXTS[members["state"]]},
            "privacy": {"const": _TEXTS["privacy"]},
            "expiresAt": {"type": "string", "format": "date-time"},
            **{name: _action(name, state) for name in state["actions"]},
        }
    )


def _action(name: str, state: Json) -> Json:
    decision = {"bodySchema": {"const": _CONTRACT["decisionBody"]}}
    if name == "submit":
        return _closed_object({**_request("reports"), "reportSchema": {"const": _CONTRACT["reportSchema"]}})
    if name == "submitOutcome":
        return _closed_object({**_request("outcomes"), "bodySchema": {"const": _CONTRACT["outcomeBody"]}})
    if name == "manageConsent":
        return _closed_object({"current": {"const": state["current"]}, **_request("decisions"), **decision})
    question = ".{1,60}".join(map(_escape, _TEXTS["questions"][state["question"]].split("{service}")))
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
