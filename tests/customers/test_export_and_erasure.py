"""What is kept of one customer: never a reference, and all of it can be handed out and removed."""

import json
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.accounts.models import AuditEntry
from app.core.database import session, transaction
from app.models import METADATA
from tests.conversations import PERSONALIZATION, Talk, item

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


def live(talk: Talk) -> list[bytes]:
    """Let a customer ask, answer, be retrieved, decided for and concluded on; returns every answer."""
    anonymous = talk.ask(anonymousRef=REFERENCES["anonymousRef"], sessionRef=SESSION)
    request = talk.ask(**REFERENCES, sessionRef=SESSION)
    receipt = talk.answer(request.json, item(remember=True))
    response = talk.retrieve(**REFERENCES)
    decision = {
        "externalDecisionId": "d1",
        "contextRetrievalId": response.json["retrievalId"],
        "signalIds": [receipt.json["signals"][0]["signalId"]],
    }
    decision_response = talk.post("/personalization/decisions", decision)
    outcome = {
        "externalOutcomeId": "o1",
        "decisionId": decision_response.json["decision"]["id"],
        "outcome": "conversion",
    }
    outcome_response = talk.post("/personalization/outcomes", outcome)
    choice = talk.choose(talk.ask(userRef=REFERENCES["userRef"]).json, "approved")
    conflict = talk.ask(userRef="somebody-else", anonymousRef=REFERENCES["anonymousRef"])
    answers = [anonymous, request, receipt, response, decision_response, outcome_response, choice]
    assert {answer.status_code for answer in answers} == {200}
    assert conflict.status_code == 409
    return [answer.data for answer in (*answers, conflict)]


def command(app: Flask, talk: Talk, name: str, *options: str, user: str = REFERENCES["userRef"]) -> Any:
    arguments = ["customer", name, "--product", str(talk.company.product_id), "--user-ref", user, *options]
    return app.test_cli_runner().invoke(args=arguments)


def test_no_reference_is_in_any_table_log_or_answer(talk: Talk, capfd: pytest.CaptureFixture[str]) -> None:
    answers = b"".join(live(talk)).decode()
    stored_text = dump()
    assert "travel.stay_style" in stored_text
    log = "".join(capfd.readouterr())
    for reference in (*REFERENCES.values(), SESSION):
        for form in (reference, reference.encode().hex()):
            assert form not in stored_text
            assert form not in log
            assert form not in answers


def test_everything_of_a_customer_is_exported(app: Flask, talk: Talk) -> None:
    live(talk)
    result = command(app, talk, "export")
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


def test_an_erased_customer_is_gone_and_another_is_not(app: Flask, talk: Talk) -> None:
    live(talk)
    talk.answer(talk.ask(userRef="u2").json, item(remember=True))
    result = command(app, talk, "erase", "--yes", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output) == {"removedRows": 11}
    assert talk.known(**REFERENCES) == {}
    assert talk.known(userRef="u2") == {"travel.stay_style": "quiet_boutique"}
    assert "Nobody" not in command(app, talk, "export", user="u2").output
    assert "no such customer" in command(app, talk, "export").output
    assert "no such customer" in command(app, talk, "erase", "--yes").output
    with transaction():
        entry = session().scalars(select(AuditEntry).where(AuditEntry.action == "customer.erased")).one()
    assert entry.details == {"product": str(talk.company.product_id), "rows": 11, "keepsRefusal": False}
    assert REFERENCES["userRef"] not in str(vars(entry))
    fresh = talk.ask(**REFERENCES).json
    assert (fresh["state"], fresh["identityLevel"]) == ("answer_ready", "verified")


def test_a_refusal_survives_erasure_unless_it_is_to_be_forgotten(app: Flask, talk: Talk) -> None:
    live(talk)
    talk.choose(talk.ask(**REFERENCES).json, "declined")
    assert command(app, talk, "erase", "--yes").exit_code == 0
    assert talk.ask(userRef=REFERENCES["userRef"], purpose=PERSONALIZATION).json["state"] == "declined"
    assert command(app, talk, "erase", "--yes", "--forget-refusals").exit_code == 0
    assert talk.ask(userRef=REFERENCES["userRef"]).json["state"] == "answer_ready"


def test_what_was_retrieved_by_interaction_is_the_customer_s_too(app: Flask, talk: Talk) -> None:
    request = talk.ask(userRef=REFERENCES["userRef"]).json
    talk.answer(request, item())
    response = talk.retrieve(interactionId=request["interactionId"]).json
    decision = {"externalDecisionId": "d1", "contextRetrievalId": response["retrievalId"], "signalIds": []}
    talk.post("/personalization/decisions", decision)
    tables = [json.loads(line)["table"] for line in command(app, talk, "export").output.splitlines()]
    assert {"context_retrievals", "personalization_decisions"} <= set(tables)


def test_an_interaction_of_somebody_erased_asks_no_more(app: Flask, talk: Talk) -> None:
    request = talk.ask(userRef=REFERENCES["userRef"]).json
    command(app, talk, "erase", "--yes")
    retry = talk.ask(userRef=REFERENCES["userRef"], interactionId=request["interactionId"])
    assert retry.json["code"] == "request_expired"


def test_exporting_is_on_record(app: Flask, talk: Talk) -> None:
    live(talk)
    command(app, talk, "export")
    with transaction():
        assert session().scalars(select(AuditEntry.action).where(AuditEntry.action == "customer.exported")).all()


def test_erasing_asks_first(app: Flask, talk: Talk) -> None:
    live(talk)
    assert command(app, talk, "erase").exit_code != 0
    assert talk.known(**REFERENCES)
