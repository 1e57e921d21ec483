"""An agent's answer to a request for context is checked and built as the vectors say."""

import json

import pytest
from agent_feedback.agent import requests
from agent_feedback.agent.context_action import ContextAction

from tests.sdk.vectors.cases import Case, read_cases

URL = "https://shop.example.com/products"


@read_cases("answer")
def test_an_answer_is_checked_and_built_as_the_vector_says(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    sent_bodies = []

    def post(url: str, authorization: str, body: bytes) -> dict[str, bool]:
        sent_bodies.append(json.loads(body))
        return {"accepted": True}

    monkeypatch.setattr(requests, "post", post)
    content = case["input"]
    try:
        ContextAction(content["action"], content.get("responseUrl", URL)).answer(content["items"], content["status"])
    except ValueError:
        assert not sent_bodies
    assert (sent_bodies[0] if sent_bodies else None) == case["expected"]
