"""A person is asked before anything is sent, where the product says so, and only a clear answer counts."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from agent_feedback.envelope import EnvelopeContext, build

from tests.sdk.cli_product import CommandLine, paths, reply_with, serving_product
from tests.sdk.endpoint import Endpoint, Reply

NOTE = "All twelve orders matched."
REVIEW = ["--outcome", "success", "--note", NOTE]


@pytest.fixture
def command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint
) -> CommandLine:
    monkeypatch.setenv("AGENT_FEEDBACK_ALLOWED_ORIGINS", f"https://other.example, {endpoint.url}")
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def asking_product(endpoint: Endpoint) -> Iterator[str]:
    """A product that asks for each use."""
    with serving_product(endpoint, mode="ask_always") as url:
        yield url


PREVIEW = [*REVIEW, "--preview", "--approve", "--yes"]
REQUIRED = {"state": "consent_required", "canonicalQuestion": "May I, really?"}


def test_a_preview_before_an_approval_sends_nothing(
    command_line: CommandLine, asking_product: str, endpoint: Endpoint
) -> None:
    reply_with(endpoint, REQUIRED)
    result = command_line.run("agent", "report", asking_product, *PREVIEW)
    assert (result.code, paths(endpoint)) == (0, ["capabilities/introspect"])
    assert NOTE in result.output
    assert "The user has to be asked first: May I, really?" in result.output


def test_a_preview_follows_an_approval_that_the_service_has(
    command_line: CommandLine, asking_product: str, endpoint: Endpoint
) -> None:
    reply_with(endpoint, ready(endpoint), {"wouldBeStored": True, "review": {"note": NOTE}})
    result = command_line.run("agent", "report", asking_product, *PREVIEW)
    assert (result.code, paths(endpoint)) == (0, ["capabilities/introspect", "outcomes/preview"])
    assert "The service would store:" in result.output


@pytest.mark.parametrize("words", [PREVIEW, [*REVIEW, "--yes"]], ids=["preview", "report"])
def test_a_refusal_that_the_service_has_is_told(
    command_line: CommandLine, asking_product: str, endpoint: Endpoint, words: list[str]
) -> None:
    reply_with(endpoint, {"state": "declined"})
    result = command_line.run("agent", "report", asking_product, *words)
    assert (result.code, paths(endpoint)) == (2, ["capabilities/introspect"])
    assert "the user has declined" in result.errors


def test_a_preview_goes_to_allowed_services_only(
    command_line: CommandLine, asking_product: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AGENT_FEEDBACK_ALLOWED_ORIGINS")
    result = command_line.run("agent", "report", asking_product, *PREVIEW)
    assert (result.code, endpoint.requests) == (2, [])
    assert "may get nothing so far" in result.errors
    assert "May I send" not in result.output + result.errors


def test_show_says_whose_words_the_question_is_in(
    command_line: CommandLine, asking_product: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = ["agent", "show", asking_product]
    endpoint.default_reply = Reply(200, json.dumps(REQUIRED).encode())
    assert "question:    May I, really?\n" in command_line.run(*show).output
    assert json.loads(command_line.run(*show, "--json").output)["question"] == "May I, really?"
    monkeypatch.delenv("AGENT_FEEDBACK_ALLOWED_ORIGINS")
    assert "(in the product's own words" in command_line.run(*show).output
    assert json.loads(command_line.run(*show, "--json").output)["question"] is None


def ready(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "state": "feedback_ready",
        "changed": True,
        "feedback": build(EnvelopeContext(endpoint.url, "afr2_x", 2_000_000_000, "never_ask")),
    }


def test_a_report_asks_the_user_first_in_the_words_of_the_service(
    command_line: CommandLine, asking_product: str, endpoint: Endpoint
) -> None:
    reply_with(endpoint, REQUIRED, REQUIRED, ready(endpoint), {"interactionId": "i-2"})
    result = command_line.run("agent", "report", asking_product, *REVIEW, answers="y\nyes\n")
    assert (result.code, "May I, really? [y/N] Send it?" in result.errors) == (0, True)
    sent_paths = ["capabilities/introspect", "capabilities/introspect", "consent/decisions", "outcomes"]
    assert paths(endpoint) == sent_paths


def test_a_report_without_an_approval_is_not_sent(
    command_line: CommandLine, asking_product: str, endpoint: Endpoint
) -> None:
    endpoint.default_reply = Reply(200, json.dumps(REQUIRED).encode())
    assert command_line.run("agent", "report", asking_product, *REVIEW, answers="n\n").code == 5
    refused = command_line.run("agent", "report", asking_product, *REVIEW, "--yes")
    assert refused.code == 2
    assert "Pass --approve after a clear yes" in refused.errors
    assert set(paths(endpoint)) == {"capabilities/introspect"}


@pytest.mark.parametrize(
    ("words", "answers", "decision"),
    [
        (["--approve"], None, "approved"),
        (["--decline"], None, "declined"),
        ([], "y\n", "approved"),
        ([], "no\n", "declined"),
    ],
)
def test_ask_sends_the_users_answer(
    command_line: CommandLine,
    asking_product: str,
    endpoint: Endpoint,
    words: list[str],
    answers: str | None,
    decision: str,
) -> None:
    reply_with(endpoint, *[REQUIRED] * (1 if words else 2), {"state": "declined", "changed": True})
    result = command_line.run("agent", "ask", asking_product, *words, answers=answers)
    assert result.code == 0
    assert endpoint.requests[-1].content == {"decision": decision}


@pytest.mark.parametrize("answers", ["", "maybe\n"])
def test_silence_and_doubt_are_no_answer(
    command_line: CommandLine, asking_product: str, endpoint: Endpoint, answers: str
) -> None:
    reply_with(endpoint, REQUIRED)
    assert command_line.run("agent", "ask", asking_product, answers=answers).code == 5
    assert paths(endpoint) == ["capabilities/introspect"]


def test_ask_needs_a_question_and_somebody_to_answer_it(
    command_line: CommandLine, asking_product: str, endpoint: Endpoint
) -> None:
    reply_with(endpoint, REQUIRED)
    nobody = command_line.run("agent", "ask", asking_product)
    assert nobody.code == 2
    assert "May I, really? Pass --approve or --decline" in nobody.errors
    with serving_product(endpoint) as product:
        nothing = command_line.run("agent", "ask", product, "--approve")
    assert (nothing.code, "nothing is to be decided" in nothing.errors) == (2, True)
