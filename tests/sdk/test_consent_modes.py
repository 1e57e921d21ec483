"""The envelope in each state, and the consent decisions that a process caches."""

import json
from typing import Any

import pytest
import requests
from agent_feedback import AgentFeedback
from agent_feedback.capability import consent_subject
from agent_feedback.envelope import EnvelopeContext, build, encode

from app.consent import contract
from app.products.rules import Mode
from tests.factories import Company
from tests.journeys.stack import Stack, wait_until

ENDPOINT = "https://feedback.example.com"
TOKEN = "afr2_" + "0" * 32 + ".payload." + "s" * 43
EXPIRES_AT = 1_800_000_000

COMMON_FIELDS = {"v", "mode", "state", "requested", "consentRequired", "consentPolicy", "reliability", "when"}
COMMON_FIELDS |= {"instruction", "privacy", "expiresAt"}
CONSENT_FIELDS = COMMON_FIELDS | {"configuredMode", "consentManagedBy"}

# mode, has customer, choice -> state, mode, requested, required, policy, when, fields
CASES = [
    (
        ("never_ask", False, "unknown"),
        ("feedback_ready", "never_ask", True, False, "none", "after_experience_known_before_final_response"),
        COMMON_FIELDS | {"submit", "submitOutcome"},
    ),
    (
        ("ask_once", True, "unknown"),
        ("consent_required", "ask_once", True, True, "once", "after_experience_known_and_consent_resolved"),
        CONSENT_FIELDS | {"requiredAction"},
    ),
    (
        ("ask_once", True, "approved"),
        ("feedback_ready", "never_ask", True, False, "none", "after_experience_known_before_final_response"),
        CONSENT_FIELDS | {"submit", "submitOutcome", "manageConsent"},
    ),
    (
        ("ask_once", True, "declined"),
        ("feedback_disabled", "ask_once", False, False, "once", "only_after_explicit_user_request"),
        CONSENT_FIELDS | {"manageConsent"},
    ),
    (
        ("ask_once", False, "unknown"),
        ("consent_required", "ask_always", True, True, "always", "after_experience_known_and_explicit_user_approval"),
        CONSENT_FIELDS | {"requiredAction"},
    ),
    (
        ("ask_always", True, "approved"),
        ("consent_required", "ask_always", True, True, "always", "after_experience_known_and_explicit_user_approval"),
        CONSENT_FIELDS | {"requiredAction"},
    ),
]


def envelope(mode: str, has_customer: bool, decision: str) -> dict[str, Any]:
    return build(EnvelopeContext(ENDPOINT, TOKEN, EXPIRES_AT, mode, has_customer=has_customer, decision=decision))


@pytest.mark.parametrize(("case", "column", "fields"), CASES, ids=lambda value: "-".join(sorted(map(str, value)))[:40])
def test_an_envelope_has_the_state_and_fields_of_its_case(
    case: tuple[str, bool, str], column: tuple[Any, ...], fields: set[str]
) -> None:
    content = envelope(*case)
    assert set(content) == fields
    names = ("state", "mode", "requested", "consentRequired", "consentPolicy", "when")
    assert tuple(content[name] for name in names) == column
    if "configuredMode" in fields:
        assert (content["configuredMode"], content["consentManagedBy"]) == (case[0], "service")
    if "manageConsent" in fields:
        assert content["manageConsent"]["current"] == case[2]


# The very texts by which the places of what differs are found.
PLACES = '"expiresAt":"1970-01-01T00:00:00Z","authorization":"Bearer "'


@pytest.mark.parametrize("capability", [TOKEN, TOKEN[::-1]])
@pytest.mark.parametrize("service_name", ["Agent Feedback", PLACES])
@pytest.mark.parametrize("case", [case for case, _, _ in CASES])
def test_an_envelope_is_encoded_as_it_is_built(case: tuple[str, bool, str], service_name: str, capability: str) -> None:
    mode, has_customer, decision = case
    for expires_at in (0, EXPIRES_AT):
        context = EnvelopeContext(ENDPOINT, capability, expires_at, mode, has_customer, decision, service_name)
        assert encode(context) == json.dumps(build(context), separators=(",", ":"))


def test_the_question_is_the_services_own() -> None:
    for case, name in ((("ask_once", True, "unknown"), "once"), (("ask_always", False, "unknown"), "always")):
        action = envelope(*case)["requiredAction"]
        assert action["question"] == contract.question(name, "Agent Feedback")
        assert action["submitDecision"]["bodySchema"] == {"decision": ["approved", "declined"]}


def test_the_service_and_the_sdk_make_the_same_contract() -> None:
    approved_envelope = envelope("ask_once", True, "approved")
    del approved_envelope["manageConsent"]
    assert contract.feedback_ready(ENDPOINT, TOKEN, EXPIRES_AT, Mode.ASK_ONCE) == approved_envelope
    assert contract.feedback_ready(ENDPOINT, TOKEN, EXPIRES_AT) == envelope("never_ask", False, "unknown")


@pytest.fixture
def company(stack: Stack) -> Company:
    """A company of the stack whose environment asks once."""
    product = str(stack.company.product_id)
    content = stack.flask("environment", "create", "--product", product, "--name", "asking", "--mode", "ask_once")
    key = stack.flask("key", "create", "--environment", content["environmentId"], "--kind", "product")["key"]
    return Company(stack.company.workspace_id, stack.company.product_id, content["environmentId"], key, "")


def state(feedback: AgentFeedback, customer: str) -> str:
    return str(feedback.start("/orders", customer_ref=customer).envelope()["state"])


def test_a_new_process_asks_until_it_has_fetched_the_decision(stack: Stack, company: Company) -> None:
    feedback = AgentFeedback(company.product_key, endpoint=stack.url, mode="ask_once")
    envelope_content = feedback.start("/orders", customer_ref="account_42").envelope()
    assert envelope_content["state"] == "consent_required"
    decide(stack, envelope_content, "approved")
    wait_until(lambda: state(feedback, "account_42") == "feedback_ready", 10)
    new_client = AgentFeedback(company.product_key, endpoint=stack.url, mode="ask_once")
    assert state(new_client, "account_42") == "consent_required"
    wait_until(lambda: state(new_client, "account_42") == "feedback_ready", 10)
    assert state(new_client, "account_43") == "consent_required"


def test_a_choice_can_be_changed_through_the_newest_envelope(stack: Stack, company: Company) -> None:
    feedback = AgentFeedback(company.product_key, endpoint=stack.url, mode="ask_once", consent_cache_ttl=0.2)
    decide(stack, feedback.start("/orders", customer_ref="account_7").envelope(), "approved")
    wait_until(lambda: state(feedback, "account_7") == "feedback_ready", 10)
    action = feedback.start("/orders", customer_ref="account_7").envelope()["manageConsent"]
    response = post(stack, action, {"decision": "declined"})
    assert (response["state"], response["changed"]) == ("declined", True)
    wait_until(lambda: state(feedback, "account_7") == "feedback_disabled", 10)


def test_an_unreachable_service_changes_no_response() -> None:
    key = "af_live_" + "0" * 32 + "_" + "k" * 43
    feedback = AgentFeedback(key, endpoint="http://127.0.0.1:9", mode="ask_once")
    assert {state(feedback, f"account_{number}") for number in range(200)} == {"consent_required"}


def test_no_reference_of_a_customer_is_in_an_envelope() -> None:
    key = "af_live_" + "0" * 32 + "_" + "k" * 43
    feedback = AgentFeedback(key, endpoint="http://127.0.0.1:9", mode="ask_once")
    assert "account_42" not in json.dumps(feedback.start("/orders", customer_ref="account_42").envelope())
    assert consent_subject(feedback.options.api_key.scope, "account_42").startswith("afsub1_")


def decide(stack: Stack, content: dict[str, Any], decision: str) -> None:
    assert post(stack, content["requiredAction"]["submitDecision"], {"decision": decision})["changed"]


def post(stack: Stack, action: dict[str, Any], body: dict[str, str]) -> Any:
    response = requests.post(action["url"], json=body, headers={"Authorization": action["authorization"]}, timeout=10)
    assert response.status_code == 200, response.text
    return response.json()
