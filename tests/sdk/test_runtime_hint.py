"""Hints hold product tokens, never a contact address, and nothing that the service would refuse."""

import pytest
from agent_feedback.runtime_hint import user_agent_hint

from tests.sdk.site import Client, fetch, make_app

CLAUDE = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"


def sent_hint(user_agent: str) -> str | None:
    feedback = Client(runtime_hint="user-agent")
    fetch(feedback.wsgi(make_app()), HTTP_USER_AGENT=user_agent)
    (event,) = feedback.events
    assert event.get("runtimeHintSource") == ("http" if "runtimeHint" in event else None)
    hint: str | None = event.get("runtimeHint")
    return hint


@pytest.mark.parametrize(
    ("user_agent", "hint"),
    [
        ("ClaudeBot/1.0 (+https://www.anthropic.com/claude-bot)", "ClaudeBot/1.0"),
        ("codex-cli/1.2 node/20.1", "codex-cli/1.2 node/20.1"),
        (CLAUDE, "Mozilla/5.0 AppleWebKit/537.36 ClaudeBot/1.0"),
        ("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "Mozilla/5.0 GPTBot/1.2"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/120.0", "Mozilla/5.0 Chrome/120.0"),
        ("Claude-User", "Claude-User"),
        ("bot/1 (+www.example.com/bot) after/2", "bot/1"),
        ("bot/1 mail%40example.com", "bot/1"),
        ("bot/1 https://example.com/?a=b other/2", "bot/1"),
        ("x" * 300, "x" * 200),
        ("someone@example.com", None),
        ("", None),
        ("( ( (", None),
    ],
)
def test_the_user_agent_is_cut_to_its_product_tokens(user_agent: str, hint: str | None) -> None:
    assert sent_hint(user_agent) == hint


def test_the_words_of_a_user_agent_may_be_long() -> None:
    """Would take an hour if the time grew with the square of the length."""
    for word in ("x" * 200_000, "x." * 100_000, "(" * 200_000, "x/" * 100_000, "%4" * 100_000):
        assert user_agent_hint(f"Bot/1 {word}@example.com") == "Bot/1"
        user_agent_hint(f"Bot/1 {word}")


def test_a_request_without_a_user_agent_has_no_hint() -> None:
    feedback = Client(runtime_hint="user-agent")
    fetch(feedback.wsgi(make_app()))
    assert "runtimeHint" not in feedback.events[0]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("  an agent\n", "an agent"),
        ("agent\u00a0\u00e9\u2713", "agent\u00a0\u00e9\u2713"),
        ("\N{GRINNING FACE}" * 300, "\N{GRINNING FACE}" * 200),
        (" " + "x" * 199 + " y", "x" * 199),
        ("an\tagent", None),
        ("an\x00agent", None),
        ("an\x9fagent", None),
        ("\ud83d", None),
        ("  ", None),
        ("", None),
        (None, None),
        (b"agent", None),
        (42, None),
    ],
)
def test_a_callbacks_text_is_trimmed_cut_and_left_out_with_control_characters(text: object, hint: str | None) -> None:
    feedback = Client(runtime_hint=lambda environ: text)
    fetch(feedback.wsgi(make_app()))
    assert feedback.events[0].get("runtimeHint") == hint
