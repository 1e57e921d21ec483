"""An agent asks only while the question stands, and its view follows what the service answers."""

import json
from typing import Any

import pytest
from agent_feedback import AgentFeedback, InvalidOption, ServiceRefused
from agent_feedback.agent import Received, from_response
from agent_feedback.envelope import EnvelopeContext, build

from tests.sdk.endpoint import KEY, Endpoint, Reply

INTROSPECT, DECISIONS = "/api/v2/capabilities/introspect", "/api/v2/consent/decisions"


def receive(url: str, mode: str = "ask_once", decision: str = "unknown") -> Received:
    content = build(EnvelopeContext(url, "afr2_x", 2_000_000_000, mode, has_customer=True, decision=decision))
    received = from_response({"_agentFeedback": content}, allowed_origins=[url])
    assert received
    return received


def replies(endpoint: Endpoint, *answers: dict[str, Any]) -> None:
    endpoint.replies.extend(Reply(200, json.dumps(answer).encode()) for answer in answers)


def paths(endpoint: Endpoint) -> list[str]:
    return [request.path for request in endpoint.requests]


@pytest.mark.parametrize("mode", ["ask_once", "ask_always"])
def test_a_decision_goes_out_after_an_introspection(endpoint: Endpoint, mode: str) -> None:
    received = receive(endpoint.url, mode)
    ready = build(EnvelopeContext(endpoint.url, "afr2_x", 2_000_000_000, "never_ask"))
    replies(endpoint, {"state": "consent_required"}, {"state": "feedback_ready", "feedback": ready})
    received.decide("approved")
    assert paths(endpoint) == [INTROSPECT, DECISIONS]
    assert endpoint.requests[1].content == {"decision": "approved"}
    assert (received.state, received.question, received.content) == ("feedback_ready", None, ready)


@pytest.mark.parametrize("state", ["feedback_ready", "declined", "", None])
def test_without_a_standing_question_no_decision_is_sent(endpoint: Endpoint, state: str | None) -> None:
    received = receive(endpoint.url)
    replies(endpoint, {"state": state})
    with pytest.raises(InvalidOption, match="no question stands"):
        received.decide("approved")
    assert paths(endpoint) == [INTROSPECT]


def test_a_state_without_a_question_takes_no_decision(endpoint: Endpoint) -> None:
    with pytest.raises(InvalidOption, match="nothing is to be decided in the state feedback_ready"):
        receive(endpoint.url, "never_ask").decide("approved")
    assert not endpoint.requests


@pytest.mark.parametrize("decision", ["maybe", "", None, ["approved"]])
def test_an_unclear_answer_is_no_decision(endpoint: Endpoint, decision: Any) -> None:
    with pytest.raises(InvalidOption, match="decision must be one of approved, declined"):
        receive(endpoint.url).decide(decision)
    assert not endpoint.requests


def test_a_refused_introspection_ends_it(endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(410, b'{"error": "off", "code": "feedback_off"}')
    with pytest.raises(ServiceRefused, match="feedback_off"):
        receive(endpoint.url).decide("approved")
    assert paths(endpoint) == [INTROSPECT]


@pytest.mark.parametrize(
    ("before", "state", "decision"), [("approved", "feedback_ready", "declined"), ("declined", "declined", "approved")]
)
def test_a_standing_choice_can_be_changed(endpoint: Endpoint, before: str, state: str, decision: str) -> None:
    received = receive(endpoint.url, decision=before)
    replies(endpoint, {"state": state}, {"state": "declined" if decision == "declined" else "feedback_ready"})
    received.decide(decision)
    assert paths(endpoint) == [INTROSPECT, DECISIONS]


def test_after_a_refusal_nothing_may_be_sent_and_nothing_is_asked(endpoint: Endpoint) -> None:
    received = receive(endpoint.url)
    replies(endpoint, {"state": "consent_required"}, {"state": "declined", "feedback": None})
    received.decide("declined")
    assert (received.state, received.question) == ("feedback_disabled", None)
    with pytest.raises(InvalidOption, match="nothing may be submitted in the state feedback_disabled"):
        received.submit_outcome("success", "All matched.")


def test_a_refusal_that_only_the_service_knows_takes_the_actions_away(endpoint: Endpoint) -> None:
    received = receive(endpoint.url, decision="approved")
    replies(endpoint, {"state": "declined"})
    received.introspect()
    assert received.state == "feedback_disabled"
    with pytest.raises(InvalidOption, match="nothing may be submitted"):
        received.submit_report("The answer had everything.")


def test_an_approval_that_only_the_service_knows_brings_review_and_report(endpoint: Endpoint) -> None:
    received = receive(endpoint.url)
    submit = build(EnvelopeContext(endpoint.url, "afr2_y", 2_000_000_000, "never_ask"))["submit"]
    replies(endpoint, {"state": "feedback_ready", "canonicalQuestion": None, "submit": submit})
    received.introspect()
    assert (received.state, received.question) == ("feedback_ready", None)
    endpoint.default_reply = Reply(200, b"{}")
    received.submit_outcome("success", "All matched.")
    received.submit_report("The answer had everything.")
    assert paths(endpoint) == [INTROSPECT, "/api/v2/outcomes", "/api/v2/reports"]
    assert endpoint.requests[1].headers["Authorization"] == "Bearer afr2_y"


def test_the_question_is_asked_in_the_words_of_the_service(endpoint: Endpoint) -> None:
    received = receive(endpoint.url)
    replies(endpoint, {"state": "consent_required", "canonicalQuestion": "May I?"})
    received.introspect()
    assert received.question == "May I?"


def test_an_envelope_without_a_capability_cannot_be_introspected() -> None:
    received = from_response({"_agentFeedback": {"v": 1, "state": "feedback_ready"}}, allowed_origins=[])
    assert received
    with pytest.raises(InvalidOption, match="no capability"):
        received.introspect()
    assert (received.service_origin, received.is_allowed) == (None, False)


def test_the_origin_of_the_service_can_be_shown_before_anything_is_sent() -> None:
    content = AgentFeedback(KEY, endpoint="https://feedback.example.com:443/x").start("/orders").envelope()
    other, same = (
        from_response({"_agentFeedback": content}, allowed_origins=[origin])
        for origin in ("https://other.example.com", "https://feedback.example.com")
    )
    assert other
    assert same
    assert (other.service_origin, other.is_allowed) == ("https://feedback.example.com", False)
    assert same.is_allowed
