"""The published JSON Schemas are current, and everything that is made fits them."""

import json
import time
from typing import Any

import pytest
from agent_feedback.envelope import EnvelopeContext, build
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from app.cli.wire import wire_schemas
from app.consent import contract
from app.core import protocol
from app.core.database import transaction
from app.products.rules import Mode
from tests.context_api import item
from tests.factories import SOURCE, bearer, create_company, event, observation, send_review

TOKEN = "afr2_" + "0" * 32 + ".payload." + "s" * 43
ENDPOINT = "https://feedback.example.com"

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
