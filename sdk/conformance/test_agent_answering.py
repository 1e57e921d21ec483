"""The agent's side: answering a request for context, in the words of its catalog and at the product's own origin."""

import json
from typing import Any

import pytest

from conformance.agent_pages import PAGE, typed, url_of
from conformance.processes import Agent
from conformance.protocol import CONTRACT, vectors
from conformance.recorder import Recorder, Reply
from conformance.routes import HTML, JSON

ANSWERS = "/_service/v1/enrichment/answers"
PRODUCT_ORIGIN = "https://shop.example.com"
NEEDS_NO_TLS = "http://127.0.0.1"
"""The product of these cases is on this machine, so those about TLS elsewhere cannot be driven."""

CASES = [case for case in vectors("answer") if case["input"].get("responseUrl", NEEDS_NO_TLS).startswith(NEEDS_NO_TLS)]
ITEM = {"key": "shopping.priority", "value": "price", "provenance": "agent_reports_user_statement"}


def page(action: dict[str, Any], shape: str) -> Reply:
    member = {CONTRACT["members"]["customerContext"]: action}
    if shape == "JSON":
        return typed(json.dumps({"a": 1, CONTRACT["members"]["service"]: member}), JSON)
    text = json.dumps(member).replace("<", "\\u003c")
    return typed(f'<p>a<script id="{CONTRACT["html"]["contextId"]}" type="application/json">{text}</script>', HTML)


def read(agent: Agent, recorder: Recorder, action: dict[str, Any], shape: str = "JSON") -> None:
    content = json.loads(json.dumps(action).replace(PRODUCT_ORIGIN, recorder.url))
    recorder.always(PAGE, page(content, shape))
    recorder.always(ANSWERS, Reply(200, {"accepted": True}))
    assert agent.do("fetch", url=url_of(recorder))["ok"]


@pytest.mark.parametrize("shape", ["JSON", "HTML"])
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_answers(agent: Agent, recorder: Recorder, case: dict[str, Any], shape: str) -> None:
    given, expected = case["input"], case["expected"]
    read(agent, recorder, given["action"], shape)
    result = agent.do("answer", items=given["items"], status=given["status"])
    if expected is None:
        assert (result["ok"], result["error"]) == (False, "invalid")
        assert recorder.of(ANSWERS) == []
        return
    assert (result["ok"], result["body"]) == (True, {"accepted": True})
    (request,) = recorder.of(ANSWERS)
    assert (request.method, request.content) == ("POST", expected)
    assert request.headers["authorization"] == given["action"]["submit"]["authorization"]


@pytest.fixture
def asked(agent: Agent, recorder: Recorder) -> Agent:
    read(agent, recorder, CASES[0]["input"]["action"])
    return agent


@pytest.mark.parametrize("status", [{}, {"status": None}], ids=["missing", "null"])
def test_answered_is_the_default(asked: Agent, recorder: Recorder, status: dict[str, None]) -> None:
    assert asked.do("answer", items=[ITEM], **status)["ok"]
    assert recorder.of(ANSWERS)[0].content["status"] == "answered"


def test_one_more_try(asked: Agent, recorder: Recorder) -> None:
    recorder.script(ANSWERS, Reply(503))
    assert asked.do("answer", items=[ITEM])["ok"]
    assert len(recorder.of(ANSWERS)) == 2


def test_a_refusal_is_final(asked: Agent, recorder: Recorder) -> None:
    recorder.always(ANSWERS, Reply(409, {"error": "No.", "code": "answer_conflict", "requestId": "1"}))
    result = asked.do("answer", items=[ITEM])
    assert (result["error"], result["status"], result["code"]) == ("refused", 409, "answer_conflict")
    assert len(recorder.of(ANSWERS)) == 1


def test_a_redirect_is_not_followed(asked: Agent, recorder: Recorder) -> None:
    recorder.always(ANSWERS, Reply(307, headers=(("Location", f"{recorder.url}/elsewhere"),)))
    result = asked.do("answer", items=[ITEM])
    assert (result["error"], result["status"]) == ("refused", 307)
    assert recorder.of("/elsewhere") == []


def test_without_a_request_nothing_is_answered(agent: Agent, recorder: Recorder) -> None:
    recorder.always(PAGE, typed("{}", JSON))
    agent.do("fetch", url=url_of(recorder))
    assert agent.do("answer", items=[ITEM])["error"] == "invalid"
