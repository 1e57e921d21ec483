"""The agent's side: decisions are posted only where a question stands, and what they open and close."""

from typing import Any

import pytest

from conformance.agent_pages import envelope, read, sent
from conformance.answers import introspection
from conformance.processes import Agent
from conformance.protocol import PATHS
from conformance.recorder import Recorder, Reply

NOTE = "All of it was as promised."

QUESTIONS = ["ask_once_unknown", "ask_once_without_customer", "ask_always"]


def decision_answer(recorder: Recorder, decision: str) -> Reply:
    is_approval = decision == "approved"
    feedback = envelope(recorder, "ask_once_approved") if is_approval else None
    if feedback:
        feedback.pop("manageConsent")
    state = "feedback_ready" if is_approval else "declined"
    content = {"state": state, "decidedAt": "2030-01-01T00:00:00Z", "changed": True, "feedback": feedback}
    return Reply(200, content)


@pytest.mark.parametrize("state", QUESTIONS)
def test_an_approval_opens_the_way(agent: Agent, recorder: Recorder, state: str) -> None:
    read(agent, recorder, state)
    recorder.always(PATHS["introspect"], Reply(200, introspection("consent_required")))
    recorder.always(PATHS["decisions"], decision_answer(recorder, "approved"))
    result = agent.do("decide", decision="approved")
    assert (result["ok"], result["state"], result["question"]) == (True, "feedback_ready", None)
    targets = [(request.target, request.content) for request in sent(recorder)]
    assert [target for target, _content in targets] == [PATHS["introspect"], PATHS["decisions"]]
    assert targets[1][1] == {"decision": "approved"}
    assert agent.do("submit_outcome", outcome="success", note=NOTE)["ok"]


@pytest.mark.parametrize("state", QUESTIONS)
def test_a_refusal_closes_it(agent: Agent, recorder: Recorder, state: str) -> None:
    read(agent, recorder, state)
    recorder.always(PATHS["introspect"], Reply(200, introspection("consent_required")))
    recorder.always(PATHS["decisions"], decision_answer(recorder, "declined"))
    assert agent.do("decide", decision="declined")["ok"]
    assert sent(recorder)[-1].content == {"decision": "declined"}
    assert agent.do("submit_outcome", outcome="success", note=NOTE)["error"] == "invalid"


@pytest.mark.parametrize("answer", ["feedback_ready", "declined"])
@pytest.mark.parametrize("state", QUESTIONS)
def test_no_decision_where_the_question_does_not_stand(
    agent: Agent, recorder: Recorder, state: str, answer: str
) -> None:
    read(agent, recorder, state)
    recorder.always(PATHS["introspect"], Reply(200, introspection(answer)))
    assert agent.do("decide", decision="approved")["error"] == "invalid"
    assert recorder.of(PATHS["decisions"]) == []


def test_no_decision_where_none_is_asked_for(agent: Agent, recorder: Recorder) -> None:
    read(agent, recorder, "never_ask")
    assert agent.do("decide", decision="approved")["error"] == "invalid"
    assert recorder.of(PATHS["decisions"]) == []


@pytest.mark.parametrize("decision", ["maybe", "", "Approved", None, True])
def test_a_decision_is_clear(agent: Agent, recorder: Recorder, decision: Any) -> None:
    read(agent, recorder, "ask_always")
    recorder.always(PATHS["introspect"], Reply(200, introspection("consent_required")))
    assert agent.do("decide", decision=decision)["error"] == "invalid"
    assert recorder.of(PATHS["decisions"]) == []


def test_no_decision_when_the_service_cannot_be_asked(agent: Agent, recorder: Recorder) -> None:
    read(agent, recorder, "ask_always")
    recorder.always(PATHS["introspect"], Reply(500))
    assert agent.do("decide", decision="approved")["error"] == "unavailable"
    assert recorder.of(PATHS["decisions"]) == []
