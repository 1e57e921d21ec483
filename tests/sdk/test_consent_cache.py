"""The cache of consent decisions leaves a service alone that refuses its key or fails."""

import json
import time
from typing import Any

import pytest
from agent_feedback import AgentFeedback, consent
from agent_feedback.capability import consent_subject

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


def test_a_failure_drops_what_waits_for_the_same_answer(endpoint: Endpoint, feedback: AgentFeedback) -> None:
    endpoint.gate.clear()
    endpoint.default_reply = Reply(401)
    for number in range(3000):
        feedback.consent.find(f"afsub1_{number:043}")
    wait_until(lambda: len(endpoint.requests) == consent.MAX_REFRESHES)
    endpoint.gate.set()
    wait_until(lambda: feedback.consent._threads == 0)
    assert len(endpoint.requests) == consent.MAX_REFRESHES
    assert not feedback.consent._pending


def test_no_more_subjects_wait_than_can_be_cached(endpoint: Endpoint) -> None:
    endpoint.gate.clear()
    cache = AgentFeedback(KEY, endpoint=endpoint.url, mode="ask_once", consent_cache_size=10).consent
    for subject in SUBJECTS[: consent.MAX_REFRESHES]:
        cache.find(subject)
        wait_until(lambda: not cache._pending)
    for number in range(100, 200):
        cache.find(f"afsub1_{number:043}")
    assert len(cache._pending) == 10


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


@pytest.mark.parametrize(
    "row",
    [
        {"state": "weird", "revision": 1},
        {"state": None, "revision": 1},
        {"state": ["approved"], "revision": 1},
        {"state": "approved", "revision": "1"},
        {"state": "approved", "revision": 1.0},
        {"state": "approved", "revision": True},
        {"state": "approved", "revision": -1},
        {"state": "approved"},
        {"state": "approved", "revision": 1, "subject": SUBJECTS[1]},
        {"state": "approved", "revision": 1, "subject": [SUBJECTS[0]]},
    ],
    ids=str,
)
def test_a_decision_that_cannot_be_read_is_an_unknown_one(
    endpoint: Endpoint, feedback: AgentFeedback, row: dict[str, Any]
) -> None:
    subject = consent_subject(feedback.options.api_key.scope, "account_42")
    rows = [None, {"subject": subject, **row}]
    endpoint.default_reply = Reply(200, json.dumps({"subjects": rows}).encode())
    feedback.start("/orders", customer_ref="account_42").envelope()
    wait_until(lambda: subject in feedback.consent._decisions)
    decision = feedback.consent.find(subject)
    assert (decision.state, decision.revision) == ("unknown", 0)
    assert decision.expires_at <= time.monotonic() + consent.UNDECIDED_TTL_S
    assert not feedback.consent._breaker.is_open()
    assert feedback.start("/orders", customer_ref="account_42").envelope()["state"] == "consent_required"


@pytest.mark.parametrize("body", [b"[]", b"{}", b"null", b'{"subjects": 1}', b"[" * 100_000])
def test_an_answer_without_decisions_is_a_failure(endpoint: Endpoint, feedback: AgentFeedback, body: bytes) -> None:
    endpoint.default_reply = Reply(200, body)
    feedback.consent.find(SUBJECTS[0])
    wait_until(feedback.consent._breaker.is_open)
    wait_until(lambda: feedback.consent._threads == 0)
    assert not feedback.consent._decisions
