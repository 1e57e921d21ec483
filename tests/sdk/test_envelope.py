"""The envelope of the mode `never_ask`."""

import json
from datetime import datetime

import pytest
from agent_feedback import AgentFeedback, Interaction

from tests.sdk.endpoint import KEY

URL = "https://feedback.example.com"

ALWAYS = {
    "v": 1,
    "mode": "never_ask",
    "state": "feedback_ready",
    "requested": True,
    "consentRequired": False,
    "consentPolicy": "none",
    "reliability": "best_effort_without_agent_adapter",
    "when": "after_experience_known_before_final_response",
}


def test_it_has_exactly_the_fields_of_its_mode() -> None:
    envelope = AgentFeedback(KEY, endpoint=URL).start("/orders").envelope()
    assert {name: envelope[name] for name in ALWAYS} == ALWAYS
    assert envelope.keys() - ALWAYS.keys() == {"instruction", "privacy", "expiresAt", "submitOutcome", "submit"}


def test_its_actions_have_exactly_their_fields() -> None:
    envelope = AgentFeedback(KEY, endpoint=URL + "/").start("/orders").envelope()
    common_fields = {"url", "method", "authorization", "contentType"}
    assert envelope["submitOutcome"].keys() == common_fields | {"bodySchema"}
    assert envelope["submit"].keys() == common_fields | {"reportSchema"}
    assert envelope["submitOutcome"]["url"] == URL + "/api/v2/outcomes"
    assert envelope["submit"]["url"] == URL + "/api/v2/reports"
    assert envelope["submit"]["authorization"] == envelope["submitOutcome"]["authorization"]
    assert envelope["submitOutcome"]["bodySchema"] == {
        "outcome": ["success", "partial", "failure"],
        "note": {"minLength": 8, "maxLength": 500},
    }


def test_it_expires_with_its_capability_two_hours_from_now() -> None:
    envelope = AgentFeedback(KEY, endpoint=URL).start("/orders").envelope()
    expires_at = datetime.fromisoformat(envelope["expiresAt"])
    remaining_s = (expires_at - datetime.now(expires_at.tzinfo)).total_seconds()
    assert 7100 < remaining_s <= 7200


def test_no_two_responses_have_the_same_capability_even_for_one_interaction() -> None:
    feedback = AgentFeedback(KEY, endpoint=URL)
    interaction_id = "018f1f2e-7b4a-4c12-9c8d-123456789abc"
    interactions = [Interaction(feedback._services, "/", {}, interaction_id=interaction_id) for _ in range(100)]
    assert len({interaction.envelope()["submit"]["authorization"] for interaction in interactions}) == 100


def test_the_key_is_not_in_it() -> None:
    envelope = json.dumps(AgentFeedback(KEY, endpoint=URL).start("/orders").envelope())
    assert "conformance_secret" not in envelope


@pytest.mark.parametrize(("enabled", "mode"), [("false", "never_ask"), ("true", "off")])
def test_its_text_is_empty_where_the_envelope_is(monkeypatch: pytest.MonkeyPatch, enabled: str, mode: str) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", enabled)
    interaction = AgentFeedback(KEY, endpoint=URL, mode=mode).start("/orders")
    assert json.loads(interaction.encode_envelope()) == interaction.envelope() == {}
