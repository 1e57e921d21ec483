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
    asked = talk.ask(**REFERENCES, sessionRef=SESSION)
    answered = talk.answer(asked.json, item(remember=True))
    found = talk.retrieve(**REFERENCES)
    made = {
        "externalDecisionId": "d1",
        "contextRetrievalId": found.json["retrievalId"],
        "signalIds": [answered.json["signals"][0]["signalId"]],
    }
    decided = talk.post("/personalization/decisions", made)
    told = {"externalOutcomeId": "o1", "decisionId": decided.json["decision"]["id"], "outcome": "conversion"}
    concluded = talk.post("/personalization/outcomes", told)
    chosen = talk.choose(talk.ask(userRef=REFERENCES["userRef"]).json, "approved")
    conflict = talk.ask(userRef="somebody-else", anonymousRef=REFERENCES["anonymousRef"])
    answers = [anonymous, asked, answered, found, decided, concluded, chosen]
    assert {answer.status_code for answer in answers} == {200}
    assert conflict.status_code == 409
    return [answer.data for answer in (*answers, conflict)]


def command(app: Flask, talk: Talk, name: str, *options: str, user: str = REFERENCES["userRef"]) -> Any:
    arguments = ["customer", name, "--product", str(talk.company.product_id), "--user-ref", user, *options]
    return app.test_cli_runner().invoke(args=arguments)


def test_no_reference_is_in_any_table_log_or_answer(talk: Talk, capfd: pytest.CaptureFixture[str]) -> None:
    answers = b"".join(live(talk)).decode()
    kept = dump()
    assert "travel.stay_style" in kept
    logged = "".join(capfd.readouterr())
    for reference in (*REFERENCES.values(), SESSION):
        for written in (reference, reference.encode().hex()):
            assert written not in kept
            assert written not in logged
            assert written not in answers


def test_everything_of_a_customer_is_exported(app: Flask, talk: Talk) -> None:
    live(talk)
    exported = command(app, talk, "export")
    assert exported.exit_code == 0, exported.output
    rows = [json.loads(line) for line in exported.output.splitlines()]
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
    erased = command(app, talk, "erase", "--yes", "--json")
    assert erased.exit_code == 0, erased.output
    assert json.loads(erased.output) == {"removedRows": 11}
    assert talk.known(**REFERENCES) == {}
    assert talk.known(userRef="u2") == {"travel.stay_style": "quiet_boutique"}
    assert "Nobody" not in command(app, talk, "export", user="u2").output
    assert "no such customer" in command(app, talk, "export").output
    assert "no such customer" in command(app, talk, "erase", "--yes").output
    with transaction():
        deed = session().scalars(select(AuditEntry).where(AuditEntry.deed == "customer.erased")).one()
    assert deed.details == {"product": str(talk.company.product_id), "rows": 11, "keepsRefusal": False}
    assert REFERENCES["userRef"] not in str(vars(deed))
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
    asked = talk.ask(userRef=REFERENCES["userRef"]).json
    talk.answer(asked, item())
    found = talk.retrieve(interactionId=asked["interactionId"]).json
    made = {"externalDecisionId": "d1", "contextRetrievalId": found["retrievalId"], "signalIds": []}
    talk.post("/personalization/decisions", made)
    tables = [json.loads(line)["table"] for line in command(app, talk, "export").output.splitlines()]
    assert {"context_retrievals", "personalization_decisions"} <= set(tables)


def test_an_interaction_of_somebody_erased_asks_no_more(app: Flask, talk: Talk) -> None:
    asked = talk.ask(userRef=REFERENCES["userRef"]).json
    command(app, talk, "erase", "--yes")
    again = talk.ask(userRef=REFERENCES["userRef"], interactionId=asked["interactionId"])
    assert again.json["code"] == "request_expired"


def test_exporting_is_on_record(app: Flask, talk: Talk) -> None:
    live(talk)
    command(app, talk, "export")
    with transaction():
        assert session().scalars(select(AuditEntry.deed).where(AuditEntry.deed == "customer.exported")).all()


def test_erasing_asks_first(app: Flask, talk: Talk) -> None:
    live(talk)
    assert command(app, talk, "erase").exit_code != 0
    assert talk.known(**REFERENCES)
