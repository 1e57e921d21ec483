"""Rules of requests: state transitions, summaries of answers, and the stored form of observations."""

import ipaddress
import re
from datetime import datetime, timedelta
from enum import StrEnum

from app.customers.rules import APPROVED, DECLINED


class State(StrEnum):
    """The state of a request."""

    ANSWER_READY = "answer_ready"
    DECLINED = "declined"
    ANSWERED = "answered"
    NO_RELEVANT_CONTEXT = "no_relevant_context"


STATES = tuple(map(str, State))
STATUSES = (str(State.ANSWERED), str(State.DECLINED), str(State.NO_RELEVANT_CONTEXT))
"""What an agent may answer; each is also the state that follows."""

SURFACES = ("http_json", "html", "mcp")
INTERACTION_SURFACES = {"http_json": "http_json", "html": "http_html", "mcp": "mcp"}
"""A request's surface as interactions name it."""

STATEMENT = "agent_reports_user_statement"
CURRENT_TASK = "agent_reports_current_task"
INFERENCE = "agent_inference"
PROVENANCES = (STATEMENT, CURRENT_TASK, INFERENCE)

MAX_FIELD_KEYS = 8
MAX_ITEMS = 8

HANDLE_LIFETIME_S = 7200

IPV4_PREFIX, IPV6_PREFIX = 24, 48
"""What is stored of an address: its network of this length."""

# In this order: a browser's user agent also names those that it is compatible with.
_BROWSERS = (
    (re.compile(r"bot\b|crawl|spider|https?://|curl/|python|headless", re.IGNORECASE), "bot"),
    (re.compile(r"\bEdg(?:e|A|iOS)?/"), "edge"),
    (re.compile(r"\b(?:OPR|Opera|SamsungBrowser|YaBrowser|Vivaldi)/"), "other"),
    (re.compile(r"\b(?:Firefox|FxiOS)/"), "firefox"),
    (re.compile(r"\b(?:Chrome|Chromium|CriOS)/"), "chrome"),
    (re.compile(r"\bVersion/\S+ .*\bSafari/"), "safari"),
)


def state_after(state: State, decision: str) -> State:
    """Return the state after a user's decision: a refusal always applies, an approval only ends a refusal."""
    if decision == DECLINED:
        return State.DECLINED
    assert decision == APPROVED
    return State.ANSWER_READY if state is State.DECLINED else state


def summarize(label: str, value: str) -> str:
    """Return the stored summary of an answer, made of the catalog's words alone."""
    return f"{label}: {value.replace('_', ' ')}"


def expiry(
    now: datetime, requested: datetime | None, request_expires_at: datetime, retention_days: int | None
) -> datetime:
    """Return when a signal ends: with its request, or, where days are given, with the retention of what is remembered.

    An agent may request an earlier end, never a later one.
    """
    latest = request_expires_at if retention_days is None else now + timedelta(days=retention_days)
    return latest if requested is None else min(requested, latest)


def network_of(address: str) -> str:
    """Return the network of an IP address: /24 of IPv4, also where it is mapped into IPv6, and /48 of IPv6."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        # A scope names an interface of the sender's machine.
        ip = ip.ipv4_mapped or ipaddress.IPv6Address(int(ip))
    return str(ipaddress.ip_network((ip, IPV4_PREFIX if ip.version == 4 else IPV6_PREFIX), strict=False))


def browser_family(user_agent: str) -> str:
    """Return chrome, firefox, safari, edge, bot or other."""
    return next((family for pattern, family in _BROWSERS if pattern.search(user_agent)), "other")
