"""The agent's side: reviews and reports, checked before they are sent and sent again at most once."""

from typing import Any

import pytest

from conformance.agent_pages import PAGE, envelope, in_json, read, sent, url_of
from conformance.processes import Agent
from conformance.protocol import CONTRACT, PATHS, validate
from conformance.recorder import CUT, RUBBISH, Recorder, Reply

BOUNDS = CONTRACT["reportSchema"]
NOTE = "All of it was as promised."
SUMMARY = "All of it was as promised."
FINDING = {"kind": "friction", "topic": "docs", "detail": "It took two tries."}
ORIGIN = "https://feedback.example.com"


@pytest.fixture
def ready(agent: Agent, recorder: Recorder) -> Agent:
    """An agent that may send feedback."""
    return read(agent, recorder, "never_ask")


@pytest.mark.parametrize("outcome", CONTRACT["outcomeBody"]["outcome"])
def test_a_review(ready: Agent, recorder: Recorder, outcome: str) -> None:
    result = ready.do("submit_outcome", outcome=outcome, note="  All of it\n was\tas  promised. ")
    assert result["ok"]
    (request,) = sent(recorder)
    assert (request.method, request.target) == ("POST", PATHS["outcomes"])
    assert request.content == {"outcome": outcome, "note": NOTE}
    assert request.headers["authorization"].startswith("Bearer afr2_")
    assert result["body"] == {"accepted": True, "received": request.content}


@pytest.mark.parametrize("note", ["x" * 8, "x" * 500, "\U0001f600" * 500, " " + "x " * 4 + "yz "])
def test_notes_within_the_bounds(ready: Agent, recorder: Recorder, note: str) -> None:
    assert ready.do("submit_outcome", outcome="success", note=note)["ok"]
    assert sent(recorder)[0].content["note"] == " ".join(note.split())


@pytest.mark.parametrize(
    ("outcome", "note"),
    [
        ("great", NOTE),
        ("", NOTE),
        ("Success", NOTE),
        (None, NOTE),
        (["success"], NOTE),
        ("success", ""),
        ("success", "x" * 7),
        ("success", "x" * 501),
        ("success", " " * 9),
        ("success", "\U0001f600" * 7),
        ("success", "x      y"),
        ("success", 12345678),
        ("success", None),
    ],
)
def test_a_review_outside_of_the_bounds_is_not_sent(ready: Agent, recorder: Recorder, outcome: Any, note: Any) -> None:
    result = ready.do("submit_outcome", outcome=outcome, note=note)
    assert (result["ok"], result["error"]) == (False, "invalid")
    assert sent(recorder) == []


REPORTS: dict[str, dict[str, Any]] = {
    "the least": {"summary": SUMMARY},
    "the shortest": {"summary": "x" * BOUNDS["summaryMinLength"]},
    "the longest": {"summary": "x" * BOUNDS["summaryMaxLength"]},
    "all of it": {
        "summary": SUMMARY,
        "impact": "helped",
        "confidence": 0.5,
        "findings": [FINDING, {**FINDING, "severity": "minor"}],
        "workaround": {"used": True, "detail": "Asked the second endpoint."},
    },
    "no workaround": {"summary": SUMMARY, "workaround": {"used": False}},
    "no findings": {"summary": SUMMARY, "findings": []},
    "the most findings": {"summary": SUMMARY, "findings": [FINDING] * BOUNDS["maxFindings"]},
    "certain": {"summary": SUMMARY, "confidence": 1},
    "unsure": {"summary": SUMMARY, "confidence": 0},
    **{f"impact {impact}": {"summary": SUMMARY, "impact": impact} for impact in BOUNDS["impacts"]},
    **{
        f"kind {kind}": {"summary": SUMMARY, "findings": [{**FINDING, "kind": kind}]} for kind in BOUNDS["findingKinds"]
    },
}


@pytest.mark.parametrize("name", REPORTS)
def test_a_report(ready: Agent, recorder: Recorder, name: str) -> None:
    assert ready.do("submit_report", report=REPORTS[name])["ok"]
    (request,) = sent(recorder)
    assert (request.target, request.content) == (PATHS["reports"], REPORTS[name])
    validate("report", request.content)


def finding(**members: Any) -> dict[str, Any]:
    content = {**FINDING, **members}
    return {"summary": SUMMARY, "findings": [{name: value for name, value in content.items() if value is not None}]}


BAD_REPORTS: dict[str, dict[str, Any]] = {
    "no summary": {"impact": "helped"},
    "a summary too short": {"summary": "x" * (BOUNDS["summaryMinLength"] - 1)},
    "a summary too long": {"summary": "x" * (BOUNDS["summaryMaxLength"] + 1)},
    "a summary of white space": {"summary": " " * 20},
    "a summary that is no text": {"summary": 12345678},
    "an unknown member": {"summary": SUMMARY, "prompt": "x"},
    "an unknown impact": {"summary": SUMMARY, "impact": "great"},
    "a confidence above 1": {"summary": SUMMARY, "confidence": 1.01},
    "a confidence below 0": {"summary": SUMMARY, "confidence": -0.01},
    "a confidence as a text": {"summary": SUMMARY, "confidence": "0.5"},
    "a confidence as a truth value": {"summary": SUMMARY, "confidence": True},
    "nine findings": {"summary": SUMMARY, "findings": [FINDING] * (BOUNDS["maxFindings"] + 1)},
    "findings that are no list": {"summary": SUMMARY, "findings": FINDING},
    "a finding that is no object": {"summary": SUMMARY, "findings": ["x"]},
    "an unknown kind": finding(kind="praise"),
    "no kind": finding(kind=None),
    "no topic": finding(topic=None),
    "no detail": finding(detail=None),
    "a topic in upper case": finding(topic="Docs"),
    "a topic with white space": finding(topic="the docs"),
    "a topic too long": finding(topic="x" * 65),
    "a topic with a line break at its end": finding(topic="docs\n"),
    "an unknown severity": finding(severity="huge"),
    "a detail too short": finding(detail="x" * (BOUNDS["findingDetailMinLength"] - 1)),
    "a detail too long": finding(detail="x" * (BOUNDS["findingDetailMaxLength"] + 1)),
    "an unknown member of a finding": finding(email="x"),
    "a workaround that does not say whether": {"summary": SUMMARY, "workaround": {"detail": "Tried again."}},
    "a workaround without its detail": {"summary": SUMMARY, "workaround": {"used": True}},
    "a workaround that is no object": {"summary": SUMMARY, "workaround": True},
    "a workaround used as a text": {"summary": SUMMARY, "workaround": {"used": "yes", "detail": "Tried again."}},
    "a workaround too short": {"summary": SUMMARY, "workaround": {"used": True, "detail": "x"}},
    "a workaround too long": {"summary": SUMMARY, "workaround": {"used": True, "detail": "x" * 351}},
    "an unknown member of a workaround": {"summary": SUMMARY, "workaround": {"used": False, "why": "x"}},
}


@pytest.mark.parametrize("name", BAD_REPORTS)
def test_a_report_outside_of_the_bounds_is_not_sent(ready: Agent, recorder: Recorder, name: str) -> None:
    result = ready.do("submit_report", report=BAD_REPORTS[name])
    assert (result["ok"], result["error"], bool(result["message"])) == (False, "invalid", True)
    assert sent(recorder) == []


@pytest.mark.parametrize(
    "state", [state for state, row in CONTRACT["states"].items() if "submit" not in row["actions"]]
)
def test_nothing_is_sent_that_the_state_does_not_allow(agent: Agent, recorder: Recorder, state: str) -> None:
    read(agent, recorder, state)
    assert agent.do("submit_outcome", outcome="success", note=NOTE)["error"] == "invalid"
    assert agent.do("submit_report", report={"summary": SUMMARY})["error"] == "invalid"
    assert sent(recorder) == []


COMMANDS: dict[str, dict[str, Any]] = {
    "submit_outcome": {"outcome": "success", "note": NOTE},
    "submit_report": {"report": {"summary": SUMMARY}},
    "introspect": {},
}
TARGETS = {
    "submit_outcome": PATHS["outcomes"],
    "submit_report": PATHS["reports"],
    "introspect": PATHS["introspect"],
}


@pytest.mark.parametrize("verb", COMMANDS)
def test_only_allowed_origins_get_anything(agent: Agent, recorder: Recorder, verb: str) -> None:
    for origins in ([ORIGIN], [], ["http://127.0.0.1:1"]):
        read(agent, recorder, "never_ask", allowedOrigins=origins)
        assert agent.do(verb, **COMMANDS[verb])["error"] == "invalid"
    assert sent(recorder) == []
    read(agent, recorder, "never_ask", allowedOrigins=[ORIGIN, recorder.url])
    assert agent.do(verb, **COMMANDS[verb])["ok"]


def test_an_unsafe_service_gets_nothing(agent: Agent, recorder: Recorder) -> None:
    content = envelope(recorder)
    for name in ("submit", "submitOutcome"):
        content[name]["url"] = content[name]["url"].replace(recorder.url, "http://feedback.example.com")
    recorder.always(PAGE, in_json(content))
    agent.do("fetch", url=url_of(recorder), allowedOrigins=["http://feedback.example.com"])
    assert agent.do("submit_outcome", outcome="success", note=NOTE)["error"] == "invalid"


@pytest.mark.parametrize("failure", [Reply(500), Reply(503), Reply(599), CUT, RUBBISH])
@pytest.mark.parametrize("verb", COMMANDS)
def test_one_more_try(ready: Agent, recorder: Recorder, verb: str, failure: Reply) -> None:
    recorder.script(TARGETS[verb], failure)
    assert ready.do(verb, **COMMANDS[verb])["ok"]
    first, second = sent(recorder)
    assert (first.body, first.headers["authorization"]) == (second.body, second.headers["authorization"])


@pytest.mark.parametrize("failure", [Reply(500), CUT, RUBBISH])
def test_no_third_try(ready: Agent, recorder: Recorder, failure: Reply) -> None:
    recorder.always(PATHS["outcomes"], failure)
    assert ready.do("submit_outcome", outcome="success", note=NOTE)["error"] == "unavailable"
    assert len(sent(recorder)) == 2


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 403, 404, 409, 410, 413, 422, 429])
@pytest.mark.parametrize("verb", ["submit_outcome", "submit_report"])
def test_a_refusal_is_final(ready: Agent, recorder: Recorder, verb: str, status: int) -> None:
    location = (("Location", f"{recorder.url}/elsewhere"),)
    recorder.always(
        TARGETS[verb], Reply(status, {"error": "No.", "code": "consent_missing", "requestId": "1"}, location)
    )
    result = ready.do(verb, **COMMANDS[verb])
    expected = {"ok": False, "error": "refused", "status": status, "code": "consent_missing"}
    assert {name: result[name] for name in expected} == expected
    assert len(sent(recorder)) == 1, "neither repeated nor redirected"


def test_an_answer_that_is_no_json(ready: Agent, recorder: Recorder) -> None:
    recorder.always(PATHS["outcomes"], Reply(200, b"<p>"))
    assert ready.do("submit_outcome", outcome="success", note=NOTE)["error"] == "unavailable"


def test_an_introspection(ready: Agent, recorder: Recorder) -> None:
    result = ready.do("introspect")
    (request,) = sent(recorder)
    assert (request.method, request.target) == ("POST", PATHS["introspect"])
    assert request.headers["authorization"].startswith("Bearer afr2_")
    assert result["body"]["state"] == "feedback_ready"


def test_before_anything_was_fetched_nothing_is_sent(agent: Agent, recorder: Recorder) -> None:
    recorder.always(PAGE, Reply(404))
    agent.do("fetch", url=url_of(recorder))
    for verb, members in COMMANDS.items():
        assert agent.do(verb, **members)["ok"] is False
    assert sent(recorder) == []
