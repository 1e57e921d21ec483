"""Reading what evidence may name."""

import re
from pathlib import Path

import pytest

from config.allowlist import ALLOWLIST, BadAllowlist, read_allowlist
from config.settings import GIVE_UP, BadSettings, Settings, settings_or_exit
from tests.config.test_settings import VALID_SETTINGS

TEXT = ALLOWLIST.read_text()

AGENTS = {
    ("openai", "crawling"): {"GPTBot"},
    ("anthropic", "crawling"): {"ClaudeBot"},
    ("google", "crawling"): {"Google-CloudVertexBot"},
    ("openai", "search"): {"OAI-SearchBot"},
    ("anthropic", "search"): {"Claude-SearchBot"},
    ("perplexity", "search"): {"PerplexityBot"},
    ("google", "search"): {"Googlebot"},
    ("microsoft", "search"): {"bingbot"},
    ("openai", "user_fetch"): {"ChatGPT-User"},
    ("anthropic", "user_fetch"): {"Claude-User"},
    ("perplexity", "user_fetch"): {"Perplexity-User"},
    ("google", "user_fetch"): {"Google-Agent", "Google-NotebookLM", "Google-GeminiNotebook", "Google-Pinpoint"},
    ("openai", "other_crawl"): {"OAI-AdsBot"},
    ("google", "other_crawl"): {"GoogleOther"},
}

REFERRERS = {
    "openai": {"chatgpt.com", "chat.openai.com"},
    "anthropic": {"claude.ai"},
    "perplexity": {"www.perplexity.ai", "perplexity.ai"},
    "google": {"gemini.google.com", "notebooklm.google.com"},
    "microsoft": {"copilot.microsoft.com", "copilot.cloud.microsoft"},
    "meta": {"www.meta.ai", "meta.ai"},
}


def find_errors(text: str) -> list[str]:
    with pytest.raises(BadAllowlist) as error_info:
        read_allowlist(text)
    return error_info.value.errors


def replace_text(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new, 1)


def test_the_file_holds_exactly_what_may_be_named() -> None:
    allowlist = read_allowlist(TEXT)
    tokens: dict[tuple[str, str], set[str]] = {}
    for agent in allowlist.agents.values():
        tokens.setdefault((agent.provider, agent.fetch_class), set()).add(agent.token)
    assert tokens == AGENTS
    hosts: dict[str, set[str]] = {}
    for referrer in allowlist.referrers.values():
        hosts.setdefault(referrer.provider, set()).add(referrer.host)
    assert hosts == REFERRERS
    assert set(allowlist.network_methods) == {
        *(f"{vendor}_verified_bot" for vendor in ("cloudflare", "vercel", "fastly", "akamai", "aws")),
        "published_ip_range",
        "forward_confirmed_reverse_dns",
    }


def test_every_entry_says_where_it_is_documented_and_when_that_was_checked() -> None:
    entries = TEXT.count("[[")
    assert entries == 17 + 11 + 5
    assert len(re.findall(r'^source = "https://', TEXT, re.MULTILINE)) == entries
    assert len(re.findall(r"^checked = \d{4}-\d\d-\d\d$", TEXT, re.MULTILINE)) == entries


def test_a_search_token_is_never_the_visit_of_an_assistant() -> None:
    agents = read_allowlist(TEXT).agents
    assert not agents["bingbot"].is_assistant_visit
    assert agents["ChatGPT-User"].is_assistant_visit
    assert find_errors(replace_text('class = "search"\n# It feeds', 'class = "user_fetch"\n# It feeds')) == [
        "agents 8 (bingbot): assistant_visit: contradicts class user_fetch"
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('token = "GPTBot"', 'token = "GPTBot/1.2"', "agents 1 (GPTBot/1.2): token: must be one product token"),
        ('token = "GPTBot"\n', "", "agents 1: token: missing data for required field"),
        ('token = "GPTBot"', 'token = "ClaudeBot"', "agents 2 (ClaudeBot): is there twice"),
        ('provider = "openai"', 'provider = "OpenAI"', "agents 1 (GPTBot): provider: must be a lowercase name"),
        ('class = "crawling"', 'class = "reading"', "agents 1 (GPTBot): class: must be one of: "),
        ("schema_version = 1", "schema_version = 2", "agents 1 (GPTBot): schema_version: must be one of: 1"),
        ("schema_version = 1", 'schema_version = "1"', "agents 1 (GPTBot): schema_version: not a valid integer"),
        ("checked = 2026-11-21", 'checked = "lately"', "agents 1 (GPTBot): checked: must be a date"),
        (
            'source = "https://',
            'source = "http://',
            "agents 1 (GPTBot): source: must be a url that begins with https://",
        ),
        ("schema_version = 1", "schema_version = 1\nnote = 1", "agents 1 (GPTBot): note: unknown field"),
        ('host = "chatgpt.com"', 'host = "ChatGPT.com"', "referrers 1 (ChatGPT.com): host: must be one hostname"),
        ('host = "chatgpt.com"', 'host = "chatgpt.com:443"', "referrers 1 (chatgpt.com:443): host: must be one"),
        ('vendor = "vercel"', 'vendor = "Vercel!"', "vendors 2 (Vercel!): vendor: must be a lowercase name"),
        ("[[agents]]", "[[robots]]", "robots: no such section"),
        ("[[agents]]", "[[agents", "it is not TOML"),
    ],
)
def test_what_is_malformed_is_named(old: str, new: str, message: str) -> None:
    messages = find_errors(replace_text(old, new))
    assert len(messages) == 1
    assert messages[0].startswith(message)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    messages = find_errors('[[agents]]\ntoken = "a b"\n[vendors]\n')
    assert [error.partition(":")[0] for error in messages] == [*["agents 1 (a b)"] * 6, "referrers", "vendors"]


def test_a_malformed_file_refuses_the_start_together_with_the_rest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "allowlist.toml"
    path.write_text(replace_text('token = "GPTBot"', 'token = "GPT Bot"'))
    monkeypatch.setattr("config.settings.ALLOWLIST", path)
    with pytest.raises(BadSettings) as error_info:
        Settings.from_env({**VALID_SETTINGS, "REDIS_URL": ""})
    assert error_info.value.mistakes == [
        "REDIS_URL is not set",
        "allowlist.toml: agents 1 (GPT Bot): token: must be one product token",
    ]
    for name, value in VALID_SETTINGS.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as exit_info:
        settings_or_exit()
    assert exit_info.value.code == GIVE_UP
    assert "GPT Bot" in capsys.readouterr().err
