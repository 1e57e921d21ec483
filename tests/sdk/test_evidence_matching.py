"""What counts as a bot and as an assistant's page, and what only looks like one."""

import string

import pytest
from agent_feedback import protocol_files
from agent_feedback.evidence import allowlist
from agent_feedback.evidence.matching import Match, Matcher
from agent_feedback.evidence.record import Record
from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.evidence_logs import BINGBOT, CHATGPT, CHROME, GPTBOT

ALLOWLIST = allowlist.read()
MATCHER = Matcher(ALLOWLIST)

TOKENS, HOSTS = sorted(ALLOWLIST.tokens), sorted(ALLOWLIST.hosts)


def test_the_list_is_that_of_the_contract() -> None:
    classes: dict[str, int] = {}
    for entry in protocol_files.read("allowlist.json")["tokens"]:
        classes[entry["class"]] = classes.get(entry["class"], 0) + 1
    assert classes == {"crawling": 3, "search": 5, "user_fetch": 7, "other_crawl": 2}
    assert (len(TOKENS), len(HOSTS), len(ALLOWLIST.vendors)) == (17, 11, 5)
    assert ALLOWLIST.providers == {"openai", "anthropic", "google", "perplexity", "microsoft"}


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize(
    "user_agent",
    [
        "{}",
        "{}/1.2",
        "compatible; {}",
        "Mozilla/5.0 (compatible; {}/1.0; +https://bot.example/info)",
        "Mozilla/5.0 ({}) Safari/537.36",
        "Mozilla/5.0 (X11;{};y)",
        "Mozilla/5.0\t{}",
        "a,{},b",
        'say "hello" {} \x00',
    ],
)
def test_a_whole_token_counts(token: str, user_agent: str) -> None:
    assert MATCHER.token(user_agent.format(token)) == token


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize(
    "user_agent",
    [
        "Not{}",
        "{}2",
        "{}-like",
        "{}_x",
        "x-{}",
        "{}.example.com",
        "Foo/{}",
        "https://bot.example/{}",
        "+{}@bot.example",
        "{}@bot.example",
        "{}+",
        "{}:1",
        "{}\x00",
        "\x00{}",
        "{}\n",
        "é{}",
        "{}é",
        "{}\xa0",
        '"{}"',
        "{}!",
    ],
)
def test_a_part_of_a_word_or_of_an_address_does_not(token: str, user_agent: str) -> None:
    assert MATCHER.token(user_agent.format(token)) is None


@pytest.mark.parametrize("token", TOKENS)
def test_another_case_is_another_name(token: str) -> None:
    assert MATCHER.token(token.swapcase()) is None
    assert MATCHER.token(token.lower()) == (token if token.islower() else None)


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        (GPTBOT, "GPTBot"),
        (BINGBOT, "bingbot"),
        (CHROME, None),
        ("Mozilla/5.0 (compatible; Claude-User/1.0; +Claude-User@anthropic.com)", "Claude-User"),
        ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot"),
        ("Googlebot-Image/1.0", None),
        ("Mozilla/5.0 (compatible; GoogleOther-Image)", None),
        ("NotGPTBot ClaudeBot/1.0", "ClaudeBot"),
    ],
)
def test_agents_as_they_are_seen(user_agent: str, token: str | None) -> None:
    assert MATCHER.token(user_agent) == token


def test_of_several_tokens_the_first_counts() -> None:
    assert MATCHER.token("ChatGPT-User/1.0 GPTBot/1.2") == "ChatGPT-User"
    assert MATCHER.token("GPTBot/1.2 ChatGPT-User/1.0") == "GPTBot"


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    "referrer", ["https://{}", "https://{}/", "http://{}/c/1?q=x#y", "https://{}?q", "https://{}#y"]
)
def test_exactly_a_host_counts(host: str, referrer: str) -> None:
    assert MATCHER.host(referrer.format(host)) == host


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    "referrer",
    [
        "{}",
        "//{}/",
        "https://{}.evil.example/",
        "https://evil.example/?https://{}",
        "https://evil.example/https://{}/",
        "https://evil.example#https://{}/",
        "https://{}@evil.example/",
        "https://{}:x@evil.example/",
        "https://evil.example@{}/",
        "https://evil.example\\@{}/",
        "https://{}\\.evil.example/",
        "https://evil-{}/",
        "https://x.{}/",
        "https://{}:443/",
        "https://{}:/",
        "https://{}./",
        "https://{} /",
        "https://{}%2Fevil.example/",
        "https://{}%00/",
        "https://{}\t/",
        "https:///{}/",
        "https:{}/",
        " https://{}/",
        "HTTPS://{}/",
        "ftp://{}/",
        "android-app://{}/",
        "javascript:https://{}/",
        "view-source:https://{}/",
    ],
)
def test_what_only_looks_like_a_host_does_not(host: str, referrer: str) -> None:
    assert MATCHER.host(referrer.format(host)) is None


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_in_capitals_or_with_a_foreign_letter_does_not(host: str) -> None:
    assert MATCHER.host(f"https://{host.upper()}/") is None
    assert MATCHER.host(f"https://{host.replace('a', 'а').replace('o', 'о')}/") is None


@given(
    st.sampled_from(TOKENS),
    st.text(st.sampled_from(string.ascii_letters + string.digits + "!#$%&'*+-.^_`|~"), min_size=1, max_size=5),
)
def test_no_character_of_a_word_may_touch_a_token(token: str, letters: str) -> None:
    assert MATCHER.token(letters + token) is None
    longer_word = token + letters
    assert MATCHER.token(longer_word) == (longer_word if longer_word in ALLOWLIST.tokens else None)


@given(st.sampled_from(HOSTS), st.text(min_size=1, max_size=8), st.integers(0, 30))
def test_a_host_with_anything_in_it_is_no_host(host: str, letters: str, at: int) -> None:
    changed = host[:at] + letters + host[at:]
    result = MATCHER.host(f"https://{changed}/")
    ends = changed.translate({ord(sign): "/" for sign in "?#"}).partition("/")[0]
    assert result == (ends if ends in ALLOWLIST.hosts else None)


@given(st.text(max_size=60))
def test_what_is_found_is_always_on_the_list(text: str) -> None:
    assert MATCHER.token(text) in {None, *TOKENS}
    assert MATCHER.host(text) in {None, *HOSTS}


@pytest.mark.parametrize("method", ["POST", "get", "", "OPTIONS", "GETX", "PRI"])
def test_only_get_and_head_count(method: str) -> None:
    assert MATCHER.match(Record(0, method, 200, GPTBOT, CHATGPT)) is None


def test_a_bot_from_a_page_shows_both() -> None:
    assert MATCHER.match(Record(0, "HEAD", 200, GPTBOT, CHATGPT)) == Match("GPTBot", "chatgpt.com")
    assert MATCHER.match(Record(0, "GET", 200, CHROME, CHATGPT)) == Match(None, "chatgpt.com")
    assert MATCHER.match(Record(0, "GET", 200, CHROME, "https://www.google.com/")) is None


@given(st.lists(st.sampled_from([b"plain", b"x GPTBot y", b"chatgpt.com", b"", b"\x00\xff", b"bingbot"]), max_size=12))
def test_the_quick_search_finds_each_line_once(lines: list[bytes]) -> None:
    text = b"".join(line + b"\n" for line in lines)
    offsets, offset = [], 0
    for line in lines:
        if line not in (b"plain", b"", b"\x00\xff"):
            offsets.append((offset, line))
        offset += len(line) + 1
    assert list(MATCHER.candidates(text)) == offsets


@pytest.mark.parametrize("name", [*TOKENS, *HOSTS])
def test_the_quick_search_misses_no_name(name: str) -> None:
    assert list(MATCHER.candidates(b"a\nx " + name.encode() + b" y")) == [(2, b"x " + name.encode() + b" y")]


def test_what_is_excluded_is_not_found() -> None:
    matcher = Matcher(ALLOWLIST.without(["GPTBot", "chatgpt.com"]))
    assert matcher.match(Record(0, "GET", 200, GPTBOT, CHATGPT)) is None
    assert matcher.token("GPTBot ClaudeBot") == "ClaudeBot"
    assert Matcher(ALLOWLIST.without([*TOKENS, *HOSTS])).match(Record(0, "GET", 200, GPTBOT, CHATGPT)) is None
    with pytest.raises(ValueError, match="neither a token nor a host"):
        ALLOWLIST.without(["gptbot"])
