"""What is kept of one customer: never a reference, and all of it can be handed out and removed."""

import json
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.accounts.models import AuditEntry
from app.core.database import session, transaction
from app.models import METADATA
from tests.context_api import PERSONALIZATION, ContextApi, item

REFERENCES = {
    "userRef": "user-reference-4711",
    "accountRef": "account-reference-4712",
    "anonymousRef": "anonymous-reference-4713",
}
SESSION = "session-reference-4714"


def dump() -> str:
    """Return every row of every table as text; bytes are in hex."""
    with transaction():
        return "\n".join(
            row
            for table in METADATA.sorted_tables
            for row in session().scalars(text(f"SELECT t::text FROM {table.name} t"))
        )


def run_consumer(context_api: ContextApi) -> list[bytes]:
    """Let a customer ask, answer, be retrieved, decided for and concluded on; returns every response."""
    anonymous = context_api.ask(anonymousRef=REFERENCES["anonymousRef"], sessionRef=SESSION)
    request = context_api.ask(**REFERENCES, sessionRef=SESSION)
    receipt = context_api.answer(request.json, item(remember=True))
    response = context_api.retrieve(**REFERENCES)
    decision = {
        "externalDecisionId": "d1",
        "contextRetrievalId": response.json["retrievalId"],
        "signalIds": [receipt.json["signals"][0]["signalId"]],
    }
    decision_response = context_api.post("/personalization/decisions", decision)
    outcome = {
        "externalOutcomeId": "o1",
        "decisionId": decision_response.json["decision"]["id"],
        "outcome": "conversion",
    }
    outcome_response = context_api.post("/personalization/outcomes", outcome)
    choice = context_api.choose(context_api.ask(userRef=REFERENCES["userRef"]).json, "approved")
    conflict = context_api.ask(userRef="somebody-else", anonymousRef=REFERENCES["anonymousRef"])
    responses = [anonymous, request, receipt, response, decision_response, outcome_response, choice]
    assert {response.status_code for response in responses} == {200}
    assert conflict.status_code == 409
    return [response.data for response in (*responses, conflict)]


def command(app: Flask, context_api: ContextApi, name: str, *options: str, user: str = REFERENCES["userRef"]) -> Any:
    arguments = ["customer", name, "--product", str(context_api.company.product_id), "--user-ref", user, *options]
    return app.test_cli_runner().invoke(args=arguments)


def test_no_reference_is_in_any_table_log_or_answer(context_api: ContextApi, capfd: pytest.CaptureFixture[str]) -> None:
    responses = b"".join(run_consumer(context_api)).decode()
    stored_text = dump()
    assert "travel.stay_style" in stored_text
    log = "".join(capfd.readouterr())
    for reference in (*REFERENCES.values(), SESSION):
        for form in (reference, reference.encode().hex()):
            assert form not in stored_text
            assert form not in log
            assert form not in responses


def test_everything_of_a_customer_is_exported(app: Flask, context_api: ContextApi) -> None:
    run_consumer(context_api)
    result = command(app, context_api, "export")
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.output.splitlines()]
    tables: dict[str, int] = {}
    for row in rows:
        tables[row["table"]] = tables.get(row["table"], 0) + 1
    assert tables == {
        "customers": 1,
        "customer_references": 2,
        "customer_choices": 1,
        "enrichment_requests": 3,
        "signals": 1,
        "context_retrievals": 1,
        "personalization_decisions": 1,
        "personalization_outcomes": 1,
    }
    assert not {name for row in rows for name in row} & {"digest", "scope", "fingerprint", "key_id"}


def test_an_erased_customer_is_gone_and_another_is_not(app: Flask, context_api: ContextApi) -> None:
    run_consumer(context_api)
    context_api.answer(context_api.ask(userRef="u2").json, item(remember=True))
    result = command(app, context_api, "erase", "--yes", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output) == {"removedRows": 11}
    assert context_api.context_values(**REFERENCES) == {}
    assert context_api.context_values(userRef="u2") == {"travel.stay_style": "quiet_boutique"}
    assert "Nobody" not in command(app, context_api, "export", user="u2").output
    assert "no such customer" in command(app, context_api, "export").output
    assert "no such customer" in command(app, context_api, "erase", "--yes").output
    with transaction():
        entry = session().scalars(select(AuditEntry).where(AuditEntry.action == "customer.erased")).one()
    assert entry.details == {"product": str(context_api.company.product_id), "rows": 11, "keepsRefusal": False}
    assert REFERENCES["userRef"] not in str(vars(entry))
    new_request = context_api.ask(**REFERENCES).json
    assert (new_request["state"], new_request["identityLevel"]) == ("answer_ready", "verified")


def test_a_refusal_survives_erasure_unless_it_is_to_be_forgotten(app: Flask, context_api: ContextApi) -> None:
    run_consumer(context_api)
    context_api.choose(context_api.ask(**REFERENCES).json, "declined")
    assert command(app, context_api, "erase", "--yes").exit_code == 0
    assert context_api.ask(userRef=REFERENCES["userRef"], purpose=PERSONALIZATION).json["state"] == "declined"
    assert command(app, context_api, "erase", "--yes", "--forget-refusals").exit_code == 0
    assert context_api.ask(userRef=REFERENCES["userRef"]).json["state"] == "answer_ready"


def test_what_was_retrieved_by_interaction_is_the_customer_s_too(app: Flask, context_api: ContextApi) -> None:
    request = context_api.ask(userRef=REFERENCES["userRef"]).json
    context_api.answer(request, item())
    response = context_api.retrieve(interactionId=request["interactionId"]).json
    decision = {"externalDecisionId": "d1", "contextRetrievalId": response["retrievalId"], "signalIds": []}
    context_api.post("/personalization/decisions", decision)
    tables = [json.loads(line)["table"] for line in command(app, context_api, "export").output.splitlines()]
    assert {"context_retrievals", "personalization_decisions"} <= set(tables)


def test_an_interaction_of_somebody_erased_asks_no_more(app: Flask, context_api: ContextApi) -> None:
    request = context_api.ask(userRef=REFERENCES["userRef"]).json
    command(app, context_api, "erase", "--yes")
    retry = context_api.ask(userRef=REFERENCES["userRef"], interactionId=request["interactionId"])
    assert retry.json["code"] == "request_expired"


def test_exporting_is_on_record(app: Flask, context_api: ContextApi) -> None:
    run_consumer(context_api)
    command(app, context_api, "export")
    with transaction():
        assert session().scalars(select(AuditEntry.action).where(AuditEntry.action == "customer.exported")).all()


def test_erasing_asks_first(app: Flask, context_api: ContextApi) -> None:
    run_consumer(context_api)
    assert command(app, context_api, "erase").exit_code != 0
    assert context_api.context_values(**REFERENCES)
