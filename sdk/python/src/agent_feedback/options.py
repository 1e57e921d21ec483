"""What a company sets, in code or in the environment. A mistake shows when the process starts, never in a request."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agent_feedback.capability import ProductKey
from agent_feedback.company_key import CompanyKey

MODES = ("never_ask", "ask_once", "ask_always", "off")
CACHE_MODES = ("safe", "private")
LOOPBACK = ("127.0.0.1", "localhost", "::1")

Reference = Callable[[Mapping[str, Any]], str | None]
"""Given the WSGI environment, returns an opaque reference of yours, or None."""


class BadOption(ValueError):
    """An option that cannot be used; the message says which and why."""


@dataclass(frozen=True)
class Options:
    """Everything that can be set; times in seconds."""

    api_key: ProductKey
    endpoint: str
    is_enabled: bool = True
    mode: str = "never_ask"
    cache_mode: str = "safe"
    include: Sequence[str] = ("/**",)
    exclude: Sequence[str] = ()
    customer_ref: Reference | None = None
    session_ref: Reference | None = None
    runtime_hint: Reference | None = None
    flush_interval: float = 0.5
    max_queue_size: int = 1000
    timeout: float = 3.0
    max_attempts: int = 3
    shutdown_timeout: float = 10.0
    max_body_bytes: int = 1024 * 1024
    consent_cache_size: int = 10_000
    consent_cache_ttl: float = 300.0
    company_key: CompanyKey | None = None
    """With it, responses can ask for customer context and the relay is mounted."""
    context_timeout: float = 0.25
    """For one question of customer context, with everything that belongs to it."""
    relay_timeout: float = 5.0
    """For what an agent sends through the relay."""
    service_name: str = "Agent Feedback"
    """The name that the service gives itself in its questions."""


def read_options(api_key: str | None, endpoint: str | None, settings: Mapping[str, Any]) -> Options:
    """Join arguments and environment, arguments first, or raise `BadOption`."""
    chosen = dict(settings)
    company_key = read_company_key(chosen.pop("company_key", None))
    chosen.setdefault("mode", os.environ.get("AGENT_FEEDBACK_MODE") or MODES[0])
    for name, value in chosen.items():
        _check(name, value)
    return Options(
        api_key=_key(api_key),
        endpoint=read_endpoint(endpoint),
        is_enabled=is_switched_on(),
        company_key=company_key,
        **chosen,
    )


def is_switched_on() -> bool:
    """Tell whether the kill switch has been left alone."""
    return os.environ.get("AGENT_FEEDBACK_ENABLED", "true").strip().lower() not in ("false", "0", "no", "off")


def read_company_key(argument: str | None) -> CompanyKey | None:
    """Return the company key of the argument or else of the environment, or raise `BadOption`."""
    chosen = os.environ.get("AGENT_FEEDBACK_COMPANY_KEY") or None if argument is None else argument
    try:
        return None if chosen is None else CompanyKey(chosen.strip())
    except (ValueError, TypeError, AttributeError):
        raise BadOption(
            "company_key (or AGENT_FEEDBACK_COMPANY_KEY): a company key looks like af_company_<32 hex digits>_<secret>"
        ) from None


def _key(argument: str | None) -> ProductKey:
    try:
        return ProductKey((argument or os.environ.get("AGENT_FEEDBACK_KEY", "")).strip())
    except (ValueError, TypeError, AttributeError):
        raise BadOption(
            "api_key (or AGENT_FEEDBACK_KEY): a product key looks like af_live_<32 hex digits>_<secret>"
        ) from None


def read_endpoint(argument: str | None) -> str:
    """Return the service's address, or raise `BadOption`."""
    refused = BadOption(
        "endpoint (or AGENT_FEEDBACK_URL): an https URL without credentials, query or fragment is needed; "
        "http only for the machine itself"
    )
    url = (argument or os.environ.get("AGENT_FEEDBACK_URL", "")).strip().rstrip("/")
    try:
        parts = urlsplit(url)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
        # Reading the port checks it.
        is_plain = parts.port != 0 and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        raise refused from None
    if not (is_safe and is_plain and parts.hostname and url.isascii() and url.isprintable() and " " not in url):
        raise refused
    return url


def _check(name: str, value: Any) -> None:
    if name not in _RULES:
        known = sorted((*_RULES, "company_key"))
        raise BadOption(f"{name}: there is no such option; there are {', '.join(known)}")
    is_right, needed = _RULES[name]
    if not is_right(value):
        raise BadOption(f"{name}: {needed}")


def _is_time(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_callback(value: Any) -> bool:
    return value is None or callable(value)


def _are_patterns(value: Any) -> bool:
    # A text is a sequence too: its characters would be patterns that never match.
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        return False
    return all(isinstance(pattern, str) and pattern.startswith(("/", "*")) for pattern in value)


_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "mode": (MODES.__contains__, f"one of {', '.join(MODES)} is needed"),
    "cache_mode": (CACHE_MODES.__contains__, f"one of {', '.join(CACHE_MODES)} is needed"),
    "service_name": (lambda value: isinstance(value, str) and bool(value.strip()), "a name is needed"),
    **dict.fromkeys(("include", "exclude"), (_are_patterns, "a list of path patterns is needed, each from / or *")),
    **dict.fromkeys(
        ("customer_ref", "session_ref", "runtime_hint"),
        (_is_callback, "a function that takes the WSGI environment is needed"),
    ),
    **dict.fromkeys(
        ("flush_interval", "timeout", "shutdown_timeout", "consent_cache_ttl", "context_timeout", "relay_timeout"),
        (_is_time, "a number of seconds above zero is needed"),
    ),
    **dict.fromkeys(
        ("max_queue_size", "max_attempts", "max_body_bytes", "consent_cache_size"),
        (_is_count, "a whole number above zero is needed"),
    ),
}
