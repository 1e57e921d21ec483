"""What the protocol's contract says of the service is so."""

from typing import Any

import pytest
from flask import Flask

from app.consent.rules import DECISIONS
from app.core import protocol
from app.core.http.body import AGENT_BODY_BYTES
from app.outcomes import rules as outcomes
from app.products.rules import Mode
from app.reports.rules import TOPIC_PATTERN

CONTRACT = protocol.read("contract.json")
STATES: dict[str, dict[str, Any]] = CONTRACT["states"]
FACTS = [
    {"mode": mode, "hasCustomer": has_customer, "decision": decision}
    for mode in Mode
    for has_customer in (True, False)
    for decision in ("unknown", *DECISIONS)
]


@pytest.mark.parametrize("name", sorted(CONTRACT["paths"]))
def test_a_path_is_served(app: Flask, name: str) -> None:
    assert CONTRACT["paths"][name] in {rule.rule for rule in app.url_map.iter_rules()}


@pytest.mark.parametrize("facts", FACTS, ids=lambda facts: "-".join(map(str, facts.values())))
def test_one_state_applies_to_each_case_and_none_to_the_mode_off(facts: dict[str, Any]) -> None:
    names = [name for name, state in STATES.items() if state["applies"].items() <= facts.items()]
    assert len(names) == (0 if facts["mode"] is Mode.OFF else 1)


@pytest.mark.parametrize("name", sorted(STATES))
def test_a_state_has_texts_and_only_the_actions_that_its_consent_allows(name: str) -> None:
    state, texts = STATES[name], protocol.read("instructions.json")
    members = state["members"]
    assert texts[members["state"]]
    assert members["consentRequired"] == (state["actions"] == ["requiredAction"]) == ("question" in state)
    assert ("submit" in state["actions"]) == (members["state"] == "feedback_ready")
    assert ("current" in state) == ("manageConsent" in state["actions"])
    assert state.get("question", "once") in texts["questions"]


def test_bounds_are_those_of_the_service() -> None:
    note = {"minLength": outcomes.MIN_NOTE_LENGTH, "maxLength": outcomes.MAX_NOTE_LENGTH}
    assert CONTRACT["outcomeBody"] == {"outcome": list(outcomes.OUTCOMES), "note": note}
    assert CONTRACT["decisionBody"] == {"decision": list(DECISIONS)}
    assert CONTRACT["formats"][CONTRACT["reportSchema"]["findingTopicFormat"]] == TOPIC_PATTERN
    assert CONTRACT["relay"]["maxBodyBytes"] == AGENT_BODY_BYTES
