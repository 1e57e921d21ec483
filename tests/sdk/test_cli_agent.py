"""A person looks at what a product requests, decides, and sees every word before it goes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from agent_feedback.envelope import EnvelopeContext, build

from tests.sdk.cli_product import CommandLine, paths, reply_with, serving_product
from tests.sdk.endpoint import Endpoint, Reply
from tests.sdk.shop import context_action
from tests.sdk.site import JSON

NOTE = "All twelve orders matched."
REVIEW = ["--outcome", "success", "--note", NOTE]
SUMMARY = "The search found the right orders."
PRODUCT = {"configuredMode": "never_ask", "productName": "Orders"}


@pytest.fixture
def command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint
) -> CommandLine:
    monkeypatch.setenv("AGENT_FEEDBACK_ALLOWED_ORIGINS", f"https://other.example, {endpoint.url}")
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def product(endpoint: Endpoint) -> Iterator[str]:
    """A product that asks nobody."""
    endpoint.default_reply = Reply(200, json.dumps({"accepted": True, "interactionId": "i-1"}).encode())
    with serving_product(endpoint) as url:
        yield url


def test_show_prints_what_is_requested(command_line: CommandLine, product: str, endpoint: Endpoint) -> None:
    reply_with(endpoint, {"state": "feedback_ready", **PRODUCT})
    result = command_line.run("agent", "show", product)
    assert (result.code, result.errors) == (0, "")
    for text in (
        f"{product} answered 200 application/json",
        "envelope:    in the JSON",
        "state:       feedback_ready",
        f"service:     {endpoint.url}",
        "product:     Orders",
        "review:      --outcome success|partial|failure --note of 8 to 500 characters",
        "report:      --summary of 8 to 700 characters",
        "expires:     20",
    ):
        assert text in result.output
    assert paths(endpoint) == ["capabilities/introspect"]


def test_show_as_json_has_all_of_it_without_the_credential(
    command_line: CommandLine, product: str, endpoint: Endpoint
) -> None:
    reply_with(endpoint, {"state": "feedback_ready", **PRODUCT})
    result = command_line.run("agent", "show", product, "--json")
    content = json.loads(result.output)
    assert (content["status"], content["place"], content["state"]) == (200, "json", "feedback_ready")
    assert content["introspection"] == {"state": "feedback_ready", **PRODUCT}
    sent_authorization = endpoint.requests[0].headers["Authorization"]
    assert content["envelope"]["submit"]["authorization"] == f"{sent_authorization.partition('.')[0]}…"
    assert sent_authorization.rpartition(".")[2] not in result.output


def test_a_service_that_is_not_allowed_gets_nothing(
    command_line: CommandLine, product: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AGENT_FEEDBACK_ALLOWED_ORIGINS")
    shown = command_line.run("agent", "show", product)
    assert shown.code == 0
    assert f"--allow-origin {endpoint.url} allows it" in shown.output
    refused = command_line.run("agent", "report", product, *REVIEW, "--yes")
    assert (refused.code, endpoint.requests) == (2, [])
    assert f"--allow-origin {endpoint.url} allows it" in refused.errors
    assert command_line.run("agent", "report", product, *REVIEW, answers="n\n").code == 2
    assert not endpoint.requests
    assert command_line.run("agent", "report", product, *REVIEW, answers="y\ny\n").code == 0
    assert command_line.run("agent", "report", product, *REVIEW, "--yes", "--allow-origin", endpoint.url).code == 0
    monkeypatch.setenv("AGENT_FEEDBACK_URL", endpoint.url)
    assert command_line.run("agent", "report", product, *REVIEW, "--yes").code == 0
    assert paths(endpoint) == ["outcomes"] * 3


def test_a_review_is_shown_and_sent_after_a_yes(command_line: CommandLine, product: str, endpoint: Endpoint) -> None:
    result = command_line.run("agent", "report", product, "--outcome", "success", "--note", f"  {NOTE} ", answers="y\n")
    assert result.code == 0
    assert json.dumps({"outcome": "success", "note": NOTE}, indent=2) in result.output
    assert "Send it? [y/N]" in result.errors
    assert "accepted, for the interaction i-1" in result.output
    assert endpoint.requests[0].content == {"outcome": "success", "note": NOTE}


@pytest.mark.parametrize("answers", ["", "n\n", "\n", "sure\n"])
def test_without_a_yes_nothing_is_sent(
    command_line: CommandLine, product: str, endpoint: Endpoint, answers: str
) -> None:
    result = command_line.run("agent", "report", product, *REVIEW, answers=answers)
    assert (result.code, endpoint.requests) == (5, [])
    assert result.errors.endswith("agent-feedback: nothing was sent\n")


def test_where_nobody_can_be_asked_yes_is_needed(command_line: CommandLine, product: str, endpoint: Endpoint) -> None:
    result = command_line.run("agent", "report", product, *REVIEW)
    assert (result.code, endpoint.requests) == (2, [])
    assert "--yes sends it" in result.errors
    sent = command_line.run("agent", "report", product, *REVIEW, "--yes", "--json")
    assert (sent.code, json.loads(sent.output)["accepted"]) == (0, True)


def test_every_part_of_a_report_can_be_said(command_line: CommandLine, product: str, endpoint: Endpoint) -> None:
    words = ["--summary", SUMMARY, "--impact", "helped", "--confidence", "0.9", "--workaround", "I asked twice."]
    findings = [
        "--finding",
        "strength",
        "speed",
        "It was fast.",
        "--finding",
        "defect:minor",
        "paging",
        "Page 2 failed.",
    ]
    assert command_line.run("agent", "report", product, *words, *findings, "--yes").code == 0
    report = {
        "summary": SUMMARY,
        "impact": "helped",
        "confidence": 0.9,
        "findings": [
            {"kind": "strength", "topic": "speed", "detail": "It was fast."},
            {"kind": "defect", "topic": "paging", "detail": "Page 2 failed.", "severity": "minor"},
        ],
        "workaround": {"used": True, "detail": "I asked twice."},
    }
    assert (paths(endpoint), endpoint.requests[0].content) == (["reports"], report)
    text = json.dumps(report).encode()
    assert command_line.run("agent", "report", product, "--file", "-", "--yes", standard_input=text).code == 0
    assert endpoint.requests[1].content == report


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "either a review"),
        ([*REVIEW, "--summary", SUMMARY], "either a review"),
        (["--note", NOTE], "a review needs --outcome and --note"),
        (["--impact", "helped"], "a report needs --summary"),
        (["--outcome", "success", "--note", "short"], "note must have 8 to 500 characters"),
        (["--summary", SUMMARY, "--confidence", "2"], "confidence must be a number from 0 to 1"),
        (["--summary", SUMMARY, "--finding", "bug", "x", "Some detail."], "findings[0].kind must be one of"),
        (["--summary", SUMMARY, "--file", "x.json"], "--file is the whole report"),
        (["--file", "/nowhere/x.json"], "--file: No such file"),
        (["--file", "-"], "--file: it is no JSON"),
        (["--file", __file__], "--file: it is no JSON"),
    ],
)
def test_what_cannot_be_sent_is_told_at_once(
    command_line: CommandLine, product: str, endpoint: Endpoint, words: list[str], message: str
) -> None:
    result = command_line.run("agent", "report", product, *words, "--yes")
    assert (result.code, endpoint.requests) == (2, [])
    assert message in result.errors


def test_a_preview_shows_what_would_go_and_what_would_stay(
    command_line: CommandLine, product: str, endpoint: Endpoint
) -> None:
    stored = {"outcome": "success", "note": "All [number] orders matched.", "source": "capability"}
    reply_with(endpoint, {"interactionId": "i-1", "wouldBeStored": True, "review": stored})
    result = command_line.run("agent", "report", product, *REVIEW, "--preview")
    assert (result.code, paths(endpoint)) == (0, ["outcomes/preview"])
    assert json.dumps({"outcome": "success", "note": NOTE}, indent=2) in result.output
    assert f"The service would store:\n{json.dumps(stored, indent=2)}\nNothing is stored.\n" in result.output
    reply_with(endpoint, {"wouldBeStored": False, "report": {"summary": "An earlier one."}})
    second = command_line.run("agent", "report", product, "--summary", SUMMARY, "--preview")
    assert "This would not be stored, since an earlier one stays:" in second.output
    reply_with(endpoint, {"wouldBeStored": True})
    as_json = json.loads(command_line.run("agent", "report", product, *REVIEW, "--preview", "--json").output)
    assert as_json == {
        "body": {"outcome": "success", "note": NOTE},
        "question": None,
        "preview": {"wouldBeStored": True},
    }


@pytest.mark.parametrize("words", [["ask", "--approve"], ["report", *REVIEW, "--yes"]])
def test_a_response_without_an_envelope_is_4(command_line: CommandLine, endpoint: Endpoint, words: list[str]) -> None:
    with serving_product(endpoint, mode="off") as url:
        result = command_line.run("agent", words[0], url, *words[1:])
    assert (result.code, result.output) == (4, "")
    assert "show --why" in result.errors


def test_a_refusal_is_1_and_names_its_code(command_line: CommandLine, product: str, endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(403, b'{"error": "Not\\u001b[2J now.", "code": "consent_missing"}')
    result = command_line.run("agent", "report", product, *REVIEW, "--yes")
    assert result.code == 1
    assert "the service refused it: 403 consent_missing: Not [2J now." in result.errors


def test_a_service_that_fails_is_3(command_line: CommandLine, product: str, endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(503)
    assert command_line.run("agent", "report", product, *REVIEW, "--yes").code == 3


def test_a_saved_response_is_read_from_standard_input(command_line: CommandLine, endpoint: Endpoint) -> None:
    envelope = build(EnvelopeContext(endpoint.url, "afr2_x", 2_000_000_000, "never_ask"))
    page = f'<script id="agent-feedback" type="application/json">{json.dumps(envelope)}</script>'.encode()
    reply_with(endpoint, {"state": "feedback_ready", **PRODUCT}, {"interactionId": "i-3"})
    assert "in the HTML" in command_line.run("agent", "show", "-", standard_input=page).output
    assert command_line.run("agent", "report", "-", *REVIEW, "--yes", standard_input=page).code == 0
    assert paths(endpoint) == ["capabilities/introspect", "outcomes"]


def test_what_a_product_says_cannot_steer_the_terminal(command_line: CommandLine) -> None:
    envelope = {"v": 1, "state": "x\x1b[2J", "instruction": "a\r\nb\u202e", "submit": {"url": 12}, "manageConsent": {}}
    text = json.dumps({"_agentFeedback": envelope}).encode()
    result = command_line.run("agent", "show", "-", standard_input=text)
    assert result.code == 0
    assert not {"\x1b", "\r", "\u202e"} & set(result.output)


STEERING = "\x7f\x9b2J\u202e\u2066\U000e0041"


@pytest.mark.parametrize("text", [STEERING, "\ud800", '\n\t"\\', "\u00e9\U0001f600"])
def test_json_has_every_character_and_none_that_steers_the_terminal(command_line: CommandLine, text: str) -> None:
    envelope = {"v": 1, "state": text, text: [text]}
    response = json.dumps({"_agentFeedback": envelope}).encode()
    result = command_line.run("agent", "show", "-", "--json", standard_input=response)
    assert json.loads(result.output)["envelope"] == envelope
    assert all(line.isprintable() for line in result.output.split("\n"))


ACTION = context_action("https://shop.example")


@pytest.mark.parametrize(
    "action",
    [
        {"submit": "x"},
        {"submit": {"bodySchema": "x"}},
        {"submit": {"bodySchema": {"catalog": 5}}},
        {"submit": {"bodySchema": {"catalog": [5, {"key": []}]}}},
        {"state": [], "purpose": {}},
        {"consent": 5},
    ],
    ids=str,
)
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_malformed_request_for_context_is_shown(
    command_line: CommandLine, action: dict[str, Any], words: list[str]
) -> None:
    response = json.dumps({"_service": {"customerContext": {**ACTION, **action}}}).encode()
    result = command_line.run("agent", "show", "-", *words, standard_input=response)
    assert (result.code, result.errors, "context" in result.output) == (4, "", True)


def test_what_nobody_thought_of_is_one_line(command_line: CommandLine) -> None:
    depth = 600
    response = b'{"_agentFeedback": {"v": 1, "a": %b}}' % (b"[" * depth + b"]" * depth)
    result = command_line.run("agent", "show", "-", "--json", standard_input=response)
    assert (result.code, result.output) == (3, "")
    assert result.errors.startswith("agent-feedback: this could not be handled: RecursionError")
    assert result.errors.count("\n") == 1


def test_the_login_goes_to_the_product_and_the_envelope_is_asked_for(
    command_line: CommandLine, endpoint: Endpoint
) -> None:
    link = '</private>; rel="agent-feedback"; request-header="Agent-Feedback-Request: 1"'
    envelope = build(EnvelopeContext("https://feedback.example", "afr2_x", 2_000_000_000, "never_ask"))
    endpoint.replies.append(Reply(200, b"{}", (JSON, ("Link", link))))
    endpoint.replies.append(Reply(200, json.dumps({"_agentFeedback": envelope}).encode(), (JSON,)))
    result = command_line.run("agent", "show", f"{endpoint.url}/private", "-H", "Authorization: Bearer me")
    assert "given on request" in result.output
    assert [request.headers["Authorization"] for request in endpoint.requests] == ["Bearer me"] * 2
