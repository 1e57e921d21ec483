"""What an agent sends is checked against the published bounds before it leaves."""

import json
from typing import Any

import pytest
from agent_feedback import AgentFeedback, InvalidOption
from agent_feedback.agent import Received, from_response

from tests.sdk.endpoint import KEY, Endpoint, Reply

SUMMARY = "The search found the right orders."
FINDING = {"kind": "friction", "topic": "pagination", "detail": "The second page was empty at first."}
WORKAROUND = {"used": True, "detail": "The request was repeated."}


@pytest.fixture
def received(endpoint: Endpoint) -> Received:
    endpoint.default_reply = Reply(200, b'{"accepted": true}')
    content = AgentFeedback(KEY, endpoint=endpoint.url).start("/orders").envelope()
    received = from_response({"_agentFeedback": content}, allowed_origins=[endpoint.url])
    assert received
    return received


GOOD_REPORTS: list[dict[str, Any]] = [
    {},
    {"impact": "helped"},
    {"confidence": 0},
    {"confidence": 1},
    {"confidence": 0.5},
    {"findings": []},
    {"findings": [FINDING] * 8},
    {"findings": [{**FINDING, "severity": "blocking"}]},
    {"findings": [{**FINDING, "topic": "a" * 64}, {**FINDING, "topic": "0_-"}]},
    {"findings": [{**FINDING, "detail": "abc"}, {**FINDING, "detail": "x" * 350}]},
    {"workaround": {"used": False}},
    {"workaround": {"used": False, "detail": "None was needed."}},
    {"workaround": WORKAROUND},
    {"summary": "x" * 8},
    {"summary": "\N{GRINNING FACE}" * 700},
]

BAD_REPORTS: list[tuple[dict[str, Any], str]] = [
    ({"summary": "x" * 7}, "summary must have 8 to 700"),
    ({"summary": "x" * 701}, "summary must have 8 to 700"),
    ({"summary": 12}, "summary must have 8 to 700"),
    ({"mood": "good"}, "there is no mood; there are summary, impact"),
    ({"impact": "great"}, "impact must be one of helped, "),
    ({"impact": None}, "impact must be one of"),
    ({"impact": ["helped"]}, "impact must be one of"),
    ({"confidence": -0.1}, "confidence must be a number from 0 to 1"),
    ({"confidence": 1.1}, "confidence must be"),
    ({"confidence": True}, "confidence must be"),
    ({"confidence": "0.5"}, "confidence must be"),
    ({"confidence": float("nan")}, "confidence must be"),
    ({"findings": FINDING}, "findings must be a list of at most 8"),
    ({"findings": [FINDING] * 9}, "findings must be a list of at most 8"),
    ({"findings": ["slow"]}, r"findings\[0\] must be an object"),
    (
        {"findings": [{}]},
        r"findings\[0\].kind is needed; findings\[0\].topic is needed; findings\[0\].detail is needed",
    ),
    ({"findings": [FINDING, {**FINDING, "kind": "bug"}]}, r"findings\[1\].kind must be one of strength"),
    ({"findings": [{**FINDING, "topic": "Search results"}]}, r"findings\[0\].topic must have the format"),
    ({"findings": [{**FINDING, "topic": "search\n"}]}, r"findings\[0\].topic must have the format"),
    ({"findings": [{**FINDING, "topic": "a" * 65}]}, r"findings\[0\].topic must have the format"),
    ({"findings": [{**FINDING, "topic": 1}]}, r"findings\[0\].topic must have the format"),
    ({"findings": [{**FINDING, "detail": "ab"}]}, r"findings\[0\].detail must have 3 to 350"),
    ({"findings": [{**FINDING, "detail": "x" * 351}]}, r"findings\[0\].detail must have 3 to 350"),
    ({"findings": [{**FINDING, "severity": "bad"}]}, r"findings\[0\].severity must be one of minor"),
    ({"findings": [{**FINDING, "place": "x"}]}, r"there is no findings\[0\].place; there are kind"),
    ({"workaround": "yes"}, "workaround must be an object"),
    ({"workaround": {}}, "workaround.used is needed"),
    ({"workaround": {"used": "yes"}}, "workaround.used must be true or false"),
    ({"workaround": {"used": True}}, "workaround.detail is needed"),
    ({"workaround": {**WORKAROUND, "detail": "x"}}, "workaround.detail must have 3 to 350"),
    ({"workaround": {**WORKAROUND, "cost": 1}}, "there is no workaround.cost"),
]


@pytest.mark.parametrize("report", GOOD_REPORTS, ids=lambda report: repr(report)[:40])
def test_a_report_within_the_bounds_is_sent(received: Received, endpoint: Endpoint, report: dict[str, Any]) -> None:
    received.submit_report(**{"summary": SUMMARY, **report})
    (request,) = endpoint.requests
    assert (request.path, request.content) == ("/api/v2/reports", {"summary": SUMMARY, **report})


@pytest.mark.parametrize(("report", "message"), BAD_REPORTS, ids=[repr(report)[:40] for report, _ in BAD_REPORTS])
def test_a_report_beyond_the_bounds_is_not_sent(
    received: Received, endpoint: Endpoint, report: dict[str, Any], message: str
) -> None:
    for method in (received.submit_report, received.preview_report):
        with pytest.raises(InvalidOption, match=message):
            method(**{"summary": SUMMARY, **report})
    assert not endpoint.requests


def test_all_problems_are_told_at_once(received: Received) -> None:
    with pytest.raises(InvalidOption, match=r"summary must have .*; impact must be .*; workaround.used is needed"):
        received.submit_report("short", impact="great", workaround={})


def test_every_text_of_a_report_is_normalised(received: Received, endpoint: Endpoint) -> None:
    finding, workaround = {**FINDING, "detail": " a\tb \n"}, {"used": True, "detail": " a\u00a0b "}
    received.submit_report(" One  row\nwas missing. ", findings=(finding,), workaround=workaround)
    assert endpoint.requests[0].content == {
        "summary": "One row was missing.",
        "findings": [{**FINDING, "detail": "a b"}],
        "workaround": {"used": True, "detail": "a b"},
    }


def test_the_bounds_are_those_that_the_envelope_publishes(received: Received, endpoint: Endpoint) -> None:
    submit = received.content["submit"]
    schema = {
        **submit["reportSchema"],
        "summaryMinLength": 2,
        "findingTopicFormat": "anything",
        "optional": ["findings"],
    }
    received.content = {**received.content, "submit": {**submit, "reportSchema": schema}}
    received.submit_report("ok", findings=[{**FINDING, "topic": "Any text"}])
    with pytest.raises(InvalidOption, match="there is no impact"):
        received.submit_report("ok", impact="helped")
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("schema", [None, [], {}, {"required": 1}, {"required": [], "optional": []}])
def test_a_report_with_unreadable_bounds_is_not_sent(received: Received, endpoint: Endpoint, schema: Any) -> None:
    submit = {**received.content["submit"], "reportSchema": schema}
    received.content = {**received.content, "submit": submit}
    with pytest.raises(InvalidOption, match="does not say how to submit"):
        received.submit_report(SUMMARY)
    assert not endpoint.requests


@pytest.mark.parametrize("name", ["url", "authorization"])
def test_an_action_without_address_or_credential_is_not_used(received: Received, name: str) -> None:
    submit = {key: value for key, value in received.content["submit"].items() if key != name}
    received.content = {**received.content, "submit": submit}
    with pytest.raises(InvalidOption, match="does not say how to submit"):
        received.submit_report(SUMMARY)


@pytest.mark.parametrize("authorization", ["Bearer x\r\nX-Other: 1", "Bearer \u00e9"])
def test_a_credential_cannot_bring_headers_of_its_own(
    received: Received, endpoint: Endpoint, authorization: str
) -> None:
    received.content = {**received.content, "submit": {**received.content["submit"], "authorization": authorization}}
    with pytest.raises(InvalidOption, match="Authorization needs a text of printable ASCII"):
        received.submit_report(SUMMARY)
    assert not endpoint.requests


def test_a_preview_is_sent_to_its_own_address_and_stores_nothing(received: Received, endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(200, b'{"wouldBeStored": true}')
    assert received.preview_outcome("success", " All  matched. ") == {"wouldBeStored": True}
    assert received.preview_report(SUMMARY, impact="helped") == {"wouldBeStored": True}
    outcome, report = endpoint.requests
    assert (outcome.path, outcome.content) == (
        "/api/v2/outcomes/preview",
        {"outcome": "success", "note": "All matched."},
    )
    assert (report.path, report.content) == ("/api/v2/reports/preview", {"summary": SUMMARY, "impact": "helped"})
    assert {request.headers["Authorization"] for request in endpoint.requests} == {
        received.content["submit"]["authorization"]
    }


def test_a_service_under_a_path_is_asked_there(endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(200, json.dumps({"state": "feedback_ready"}).encode())
    content = AgentFeedback(KEY, endpoint=f"{endpoint.url}/feedback").start("/orders").envelope()
    received = from_response({"_agentFeedback": content}, allowed_origins=[endpoint.url])
    assert received
    received.introspect()
    received.preview_outcome("success", "All matched.")
    paths = [request.path for request in endpoint.requests]
    assert paths == ["/feedback/api/v2/capabilities/introspect", "/feedback/api/v2/outcomes/preview"]
