"""Who visits a web site: agents as their vendors document them, people sent by assistants, and a crowd of others."""

import subprocess
import urllib.error
import urllib.request
from dataclasses import dataclass

import requests

WEBKIT = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko"
CHROME = "Chrome/131.0.6778.85 Safari/537.36"
NEXUS = (
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/131.0.6778.85 Mobile Safari/537.36"
)
MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko)"
FETCHERS = "https://developers.google.com/crawling/docs/crawlers-fetchers"

BROWSER = f"{MAC} {CHROME}"

OTHER_ADDRESS = "198.51.100.231"
OPENAI = "52.230.152.7"
GOOGLEBOT = "66.249.64.9"
"""Addresses: of anybody, and of two that the ranges below cover."""

RANGES = {"openai": "52.230.152.0/24", "Googlebot": "66.249.64.0/27"}
"""Of all bots of a provider, and of one token."""

AGENTS = [
    (f"{WEBKIT}); compatible; GPTBot/1.3; +https://openai.com/gptbot", "openai", "crawling"),
    (f"{WEBKIT}; compatible; GPTBot/1.2; +https://openai.com/gptbot)", "openai", "crawling"),
    (f"{WEBKIT}; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)", "anthropic", "crawling"),
    (f"{NEXUS} (compatible; Google-CloudVertexBot; +https://cloud.google.com/enterprise-search)", "google", "crawling"),
    (f"{BROWSER}; compatible; OAI-SearchBot/1.3; +https://openai.com/searchbot", "openai", "search"),
    (f"{BROWSER}; compatible; OAI-SearchBot/1.3; robots.txt; +https://openai.com/searchbot", "openai", "search"),
    (f"{WEBKIT}; compatible; Claude-SearchBot/1.0; +Claude-SearchBot@anthropic.com)", "anthropic", "search"),
    (f"{WEBKIT}; compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)", "perplexity", "search"),
    ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "google", "search"),
    (f"{NEXUS} (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "google", "search"),
    ("Googlebot/2.1 (+http://www.google.com/bot.html)", "google", "search"),
    (f"{WEBKIT}; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) {CHROME}", "microsoft", "search"),
    (f"{WEBKIT}); compatible; ChatGPT-User/1.0; +https://openai.com/bot", "openai", "user_fetch"),
    (f"{WEBKIT}; compatible; Claude-User/1.0; +Claude-User@anthropic.com)", "anthropic", "user_fetch"),
    (f"{WEBKIT}; compatible; Perplexity-User/1.0; +https://perplexity.ai/perplexity-user)", "perplexity", "user_fetch"),
    (f"{WEBKIT}; compatible; Google-Agent; +{FETCHERS}/google-agent) {CHROME}", "google", "user_fetch"),
    (f"{NEXUS} (compatible; Google-Agent; +{FETCHERS}/google-agent)", "google", "user_fetch"),
    ("Google-NotebookLM", "google", "user_fetch"),
    (f"{BROWSER} (compatible; Google-GeminiNotebook; +{FETCHERS}/google-gemininotebook)", "google", "user_fetch"),
    ("Google-Pinpoint", "google", "user_fetch"),
    (f"{WEBKIT}); compatible; OAI-AdsBot/1.0; +https://openai.com/adsbot", "openai", "other_crawl"),
    (f"{NEXUS} (compatible; GoogleOther)", "google", "other_crawl"),
]
"""Whole user agents, who sends them, and what for. Where a vendor documents the token alone, as it is seen in logs."""

ASSISTANTS = [
    ("https://chatgpt.com/", "openai"),
    ("https://chat.openai.com/c/6f1d", "openai"),
    ("https://claude.ai/chat/0b9e?from=share", "anthropic"),
    ("https://www.perplexity.ai/search/best-report", "perplexity"),
    ("https://perplexity.ai", "perplexity"),
    ("https://gemini.google.com/app", "google"),
    ("https://notebooklm.google.com/", "google"),
    ("https://copilot.microsoft.com/chats/1", "microsoft"),
    ("https://copilot.cloud.microsoft/", "microsoft"),
    ("https://www.meta.ai/", "meta"),
    ("http://meta.ai/#top", "meta"),
]
"""Pages that send people on, and whose they are."""

NO_AGENTS = [
    "NotGPTBot",
    "Mozilla/5.0 (compatible; NotGPTBot/1.0)",
    "Mozilla/5.0 (compatible; GPTBot-like/1.0; +https://lookalike.example/)",
    "GPTBot2/1.0",
    "MyChatGPT-User/1.0",
    "gptbot/1.2",
    "Mozilla/5.0 (compatible; GOOGLEBOT/2.1)",
    "Googlebot-Image/1.0",
    f"{NEXUS} (compatible; GoogleOther-Image)",
    "curl/8.5.0 +https://openai.com/GPTBot",
    "reader/1.0 (+ClaudeBot@anthropic.com)",
    'Mozilla/5.0 "GPTBot"',
    "Mozilla/5.0 (compatible; G\u0420TBot/1.0)",  # with a Cyrillic letter
    "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)",
    BROWSER,
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
]
"""User agents that name none, however close they come."""

NO_ASSISTANTS = [
    "https://chatgpt.com.evil.example/",
    "https://evil.example/?https://chatgpt.com",
    "https://evil.example/https://claude.ai/",
    "https://chatgpt.com@evil.example/",
    "https://chatgpt.com:secret@evil.example/",
    "https://evil.example@chatgpt.com/",
    "https://evil.example\\@claude.ai/",
    "https://CHATGPT.COM/",
    "https://Claude.ai/",
    "HTTPS://claude.ai/",
    "https://chatgpt.com:443/",
    "https://chatgpt.com./",
    "https://www.chatgpt.com/",
    "https://notmeta.ai/",
    "android-app://com.openai.chatgpt/",
    "chatgpt.com",
    "https://www.google.com/search?q=chatgpt.com",
    "https://www.bing.com/",
    "",
]
"""Referrers that are no page of an assistant, however close they come."""


@dataclass(frozen=True)
class Visit:
    """One request, and what it counts as: nothing, unless it says so."""

    user_agent: str = BROWSER
    referrer: str = ""
    method: str = "GET"
    page: str = "/"
    address: str = OTHER_ADDRESS
    agent: tuple[str, str] | None = None
    """Provider and class."""
    is_attested: bool = False
    assistant: str | None = None


def by_curl(url: str, visit: Visit) -> None:
    command = ["curl", "--silent", "--output", "/dev/null", "--user-agent", visit.user_agent, "--path-as-is"]
    command += ["--noproxy", "*"]
    command += ["--head"] if visit.method == "HEAD" else ["--request", visit.method]
    command += ["--referer", visit.referrer, "--header", f"X-Forwarded-For: {visit.address}", url]
    subprocess.run(command, check=True, timeout=30)


def by_requests(url: str, visit: Visit) -> None:
    requests.request(visit.method, url, headers=_headers(visit), timeout=30, allow_redirects=False)


def by_urllib(url: str, visit: Visit) -> None:
    headers = {name: content.decode("latin-1") for name, content in _headers(visit).items()}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers, method=visit.method), timeout=30):
            pass
    except urllib.error.HTTPError as error:
        error.close()


CLIENTS = (by_curl, by_requests, by_urllib)


def _headers(visit: Visit) -> dict[str, bytes]:
    headers = {"User-Agent": visit.user_agent, "X-Forwarded-For": visit.address}
    if visit.referrer:
        headers["Referer"] = visit.referrer
    return {name: text.encode() for name, text in headers.items()}
