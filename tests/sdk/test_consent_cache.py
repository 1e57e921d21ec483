"""The cache of consent decisions leaves a service alone that refuses its key or fails."""

import json
import time

import pytest
from agent_feedback import AgentFeedback, consent

from tests.sdk.endpoint import KEY, Endpoint, Reply, wait_until

SUBJECTS = [f"afsub1_{number:043}" for number in range(20)]


def answer(*subjects: str) -> Reply:
    rows = [{"subject": subject, "state": "approved", "revision": 1} for subject in subjects]
    return Reply(200, json.dumps({"subjects": rows}).encode())


@pytest.fixture
def feedback(endpoint: Endpoint) -> AgentFeedback:
    return AgentFeedback(KEY, endpoint=endpoint.url, mode="ask_once")


def test_a_key_that_is_refused_is_not_sent_again_and_again(endpoint: Endpoint, feedback: AgentFeedback) -> None:
    endpoint.default_reply = Reply(401)
    assert feedback.consent.find(SUBJECTS[0]) == consent.UNKNOWN
    wait_until(feedback.consent._breaker.is_open)
    time.sleep(consent.PAUSE_S * 1.1)
    for subject in SUBJECTS:
        assert feedback.consent.find(subject) == consent.UNKNOWN
    assert feedback.consent._threads == 0
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("reply", [Reply(500), Reply(200, b"{"), Reply(302, headers=(("Location", "/x"),))])
def test_after_another_failure_the_service_is_asked_again_soon(
    endpoint: Endpoint, feedback: AgentFeedback, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feedback.consent._breaker, "_open_s", 0.2)
    endpoint.replies, endpoint.default_reply = [reply], answer(SUBJECTS[0])
    feedback.consent.find(SUBJECTS[0])
    wait_until(feedback.consent._breaker.is_open)
    assert feedback.consent.find(SUBJECTS[1]) == consent.UNKNOWN
    assert len(endpoint.requests) == 1
    wait_until(lambda: feedback.consent.find(SUBJECTS[0]).state == "approved")
    assert not feedback.consent._breaker.is_open()
