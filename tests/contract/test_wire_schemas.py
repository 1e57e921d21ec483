"""The published JSON Schemas are current, and everything that is made fits them."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_feedback.envelope import EnvelopeContext, build
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from app.cli import wire
from app.cli.wire import wire_schemas
from app.consent import contract
from app.core import protocol
from app.core.database import transaction
from app.products.rules import Mode
from tests.context_api import ContextApi, handle, item
from tests.factories import (
    SOURCE,
    bearer,
    create_company,
    event,
    observation,
    send_events,
    send_evidence,
    send_review,
)
from tests.reports.test_reports import FULL_REPORT

TOKEN = "afr2_" + "0" * 32 + ".payload." + "s" * 43
ENDPOINT = "https://feedback.example.com"

SCHEMA_OF_VECTORS = protocol.FOLDER / "vectors" / "schema.json"

CONTEXTS = [
    (mode, has_customer, choice)
    for mode in ("never_ask", "ask_once", "ask_always")
    for has_customer in (True, False)
    for choice in ("unknown", "approved", "declined")
]


def check(name: str, value: Any) -> None:
    schema = json.loads((protocol.FOLDER / "schemas" / f"{name}.json").read_text())
    Draft202012Validator(schema).validate(value)


def test_the_published_schemas_are_current() -> None:
    files = {path.stem: json.loads(path.read_text()) for path in (protocol.FOLDER / "schemas").glob("*.json")}
    assert files == wire_schemas(), "run: flask sdk schemas"
    for schema in files.values():
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("occasion", CONTEXTS)
def test_every_envelope_of_the_sdk_fits(occasion: tuple[str, bool, str]) -> None:
    mode, has_customer, choice = occasion
    envelope = build(
        EnvelopeContext(ENDPOINT, TOKEN, int(time.time()), mode, has_customer=has_customer, decision=choice)
    )
    check("envelope", envelope)


@pytest.mark.parametrize("mode", [None, Mode.ASK_ONCE, Mode.ASK_ALWAYS])
def test_every_contract_of_the_service_fits(mode: Mode | None) -> None:
    check("envelope", contract.feedback_ready(ENDPOINT, TOKEN, int(time.time()), mode))


@pytest.mark.parametrize(
    "wrong",
    [{"extra": 1}, {"state": "declined"}, {"requested": False}, {"manageConsent": {}}, {"instruction": "Do it."}],
)
def test_an_envelope_that_is_none_does_not_fit(wrong: dict[str, Any]) -> None:
    envelope = build(EnvelopeContext(ENDPOINT, TOKEN, int(time.time()), "never_ask"))
    with pytest.raises(ValidationError):
        check("envelope", {**envelope, **wrong})


def test_what_the_service_takes_and_gives_fits(client: FlaskClient) -> None:
    with transaction():
        company = create_company()
    check("telemetry-batch", {"events": [event(statusCode=200, durationMs=1.5)]})
    evidence = [observation(referrerHost=None, agentToken="GPTBot"), observation(referrerHost="claude.ai")]
    check("evidence-batch", {"schemaVersion": 1, "source": SOURCE, "events": evidence})
    check("outcome", {"outcome": "success", "note": "It worked as documented."})
    check("decision", {"decision": "approved"})
    field = {"label": "Pace", "type": "goal", "allowedValues": ["slow"], "operations": None}
    check("field-definition", field)
    check("enrichment-answer", {"status": "answered", "items": [item()]})
    check("enrichment-choice", {"decision": "declined", "remember": False})
    check("context-query", {"purpose": "targeted_advertising", "userRef": "u1"})
    check("report", {"summary": "It worked well.", "findings": [{"kind": "gap", "topic": "a", "detail": "Nothing."}]})
    check("review", send_review(client, company.capability()).json["review"])
    with transaction():
        consent_company = create_company(Mode.ASK_ONCE)
    token = consent_company.capability()
    decision = client.post("/api/v2/consent/decisions", json={"decision": "approved"}, headers=bearer(token))
    check("envelope", decision.json["feedback"])


BODIES = {**wire._REQUESTS, **wire._ANSWERS}
EXAMPLES = {name: example for name, schema in BODIES.items() if (example := getattr(schema, "example", None))}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_example_of_a_body_fits_its_schema(name: str) -> None:
    check(name, EXAMPLES[name])


def test_what_the_service_answers_agents_fits(client: FlaskClient) -> None:
    with transaction():
        company = create_company(Mode.ASK_ONCE)
    headers = bearer(company.capability(subject="afsub1_" + "a" * 43))
    check("introspection-response", client.post("/api/v2/capabilities/introspect", headers=headers).json)
    refusal = client.post("/api/v2/outcomes", json={"outcome": "success"}, headers=headers)
    check("error", refusal.json)
    body = {"decision": "approved"}
    check("decision-response", client.post("/api/v2/consent/decisions", json=body, headers=headers).json)
    check("introspection-response", client.post("/api/v2/capabilities/introspect", headers=headers).json)
    review = {"outcome": "success", "note": "It worked as documented."}
    for path, name, content in (("outcomes", "outcome", review), ("reports", "report", FULL_REPORT)):
        preview = client.post(f"/api/v2/{path}/preview", json=content, headers=headers)
        check(f"{name}-preview-response", preview.json)
        check(f"{name}-response", client.post(f"/api/v2/{path}", json=content, headers=headers).json)
    subjects = {"subjects": ["afsub1_" + letter * 43 for letter in "ab"]}
    check("consent-state", subjects)
    states = client.post("/api/v2/consent/state", json=subjects, headers=bearer(company.product_key))
    check("consent-state-response", states.json)
    for name, path in (("discovery", "agent-feedback-v1"), ("deprecated-discovery", "agent-feedback")):
        check(name, client.get(f"/.well-known/{path}.json").json)
    check("manifest", client.get("/sdk/manifest.json").json)


def test_what_the_service_answers_companies_fits(client: FlaskClient, context_api: ContextApi) -> None:
    company = context_api.company
    check("telemetry-batch-response", send_events(client, company, event()).json)
    check("evidence-batch-response", send_evidence(client, company, observation()).json)
    check("field-definition-response", context_api.put_field("shop.colour", allowedValues=["red", "blue"]).json)
    fields = client.get("/api/v2/enrichment/fields", headers=bearer(company.company_key))
    check("fields-response", fields.json)
    request = context_api.ask(userRef="user_42", fieldKeys=["shop.colour"]).json
    check("enrichment-request-response", request)
    check("enrichment-request-response", context_api.post("/enrichment/requests/inspect", {}, handle(request)).json)
    entry = request["submit"]["bodySchema"]["catalog"][0]
    answer = {"key": entry["key"], "type": entry["type"], "value": "red", "provenance": "agent_reports_user_statement"}
    body = {"status": "answered", "items": [answer]}
    check("enrichment-answer-response", context_api.post("/enrichment/answers", body, handle(request)).json)
    other_request = context_api.ask(userRef="user_43").json
    choice = context_api.post("/enrichment/consent/decisions", {"decision": "declined"}, handle(other_request))
    check("enrichment-choice-response", choice.json)
    check("context-query-response", context_api.retrieve(userRef="user_42").json)


KEYWORDS_OF_TYPES = {
    "properties": "object",
    "required": "object",
    "additionalProperties": "object",
    "items": "array",
    "minItems": "array",
    "maxItems": "array",
    "minLength": "string",
    "maxLength": "string",
    "pattern": "string",
    "format": "string",
    "minimum": ("number", "integer"),
    "maximum": ("number", "integer"),
}
OTHER_KEYWORDS = {"$schema", "title", "description", "type", "enum", "const", "anyOf", "oneOf"}


def mistakes(schema: Any, place: str = "") -> Iterator[str]:
    """Yield what a strict validator such as Ajv's would refuse of a schema."""
    kind = schema.get("type")
    for keyword in schema.keys() - OTHER_KEYWORDS:
        kinds = KEYWORDS_OF_TYPES.get(keyword, ())
        if kind not in ((kinds,) if isinstance(kinds, str) else kinds):
            yield f"{place}: {keyword} of {kind}"
    properties = schema.get("properties", {})
    yield from (f"{place}: {name} is not described" for name in schema.get("required", ()) if name not in properties)
    for name, inner in properties.items():
        yield from mistakes(inner, f"{place}/{name}")
    for keyword in ("anyOf", "oneOf"):
        for index, inner in enumerate(schema.get(keyword, ())):
            yield from mistakes(inner, f"{place}/{keyword}/{index}")
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            yield from mistakes(schema[keyword], f"{place}/{keyword}")


@pytest.mark.parametrize("path", [*sorted((protocol.FOLDER / "schemas").glob("*.json")), SCHEMA_OF_VECTORS], ids=str)
def test_a_schema_is_strict(path: Path) -> None:
    assert list(mistakes(json.loads(path.read_text()))) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"], "maxLength": 1},
        {"properties": {}},
        {"type": "object", "required": ["a"]},
        {"anyOf": [{"type": "string", "minimum": 1}]},
        {"type": "array", "items": {"unheardOf": 1}},
    ],
)
def test_what_a_strict_validator_refuses_is_found(schema: Any) -> None:
    assert list(mistakes(schema))


@pytest.mark.parametrize("name", sorted(wire._REQUESTS))
def test_a_request_has_no_other_members_and_an_answer_may_have(name: str) -> None:
    assert wire_schemas()[name]["additionalProperties"] is False
    assert "additionalProperties" not in wire_schemas()["outcome-response"]
