"""The options of a company, from code or the environment, checked when the process starts and never in a request."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from agent_feedback.errors import InvalidOption
from agent_feedback.keys import COMPANY_KEY_FORM, PRODUCT_KEY_FORM, CompanyKey, ProductKey
from agent_feedback.runtime_hint import USER_AGENT

MODE_LABELS = ("never_ask", "ask_once", "ask_always", "off")
CACHE_MODES = ("safe", "private", "request")
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")

MAX_TIME_S = 2_147_483
"""The longest wait that sockets and threads take on every system: as many milliseconds as 31 bits hold."""

RequestCallback = Callable[[Any], str | None]
"""Takes the WSGI environment, the ASGI scope or the context of an MCP request; returns a text about it or None."""


class Options(NamedTuple):
    """The options; times in seconds."""

    api_key: ProductKey
    endpoint: str
    is_enabled: bool = True
    mode: str = "never_ask"
    cache_mode: str = "safe"
    include: Sequence[str] = ("/**",)
    exclude: Sequence[str] = ()
    customer_ref: RequestCallback | None = None
    session_ref: RequestCallback | None = None
    runtime_hint: RequestCallback | str | None = None
    """A callback, or `user-agent` for the product tokens of the User-Agent header."""
    operation: RequestCallback | None = None
    """Names the operation of a request; the path does where it returns None."""
    should_instrument: Callable[[Any], bool] | None = None
    """Tells whether the response to a request carries an envelope, beside the other rules."""
    flush_interval: float = 0.5
    max_queue_size: int = 1000
    timeout: float = 3.0
    max_attempts: int = 3
    shutdown_timeout: float = 10.0
    max_body_bytes: int = 1024 * 1024
    consent_cache_size: int = 10_000
    consent_cache_ttl: float = 300.0
    company_key: CompanyKey | None = None
    """With it, responses can request customer context and the relay is mounted."""
    context_timeout: float = 0.25
    """For one call for customer context, from the look-up of the host to the last byte."""
    relay_timeout: float = 5.0
    """For one request that an agent sends through the relay."""
    on_drop: Callable[[str, int], None] | None = None
    """Called with the reason and the number of telemetry events that were dropped, in whichever thread dropped them."""
    service_name: str = "Agent Feedback"
    """The name of the service in its consent questions."""


def read_options(api_key: str | None, endpoint: str | None, settings: Mapping[str, Any]) -> Options:
    """Return the options of arguments and environment, arguments first, or raise `InvalidOption`.

    What is switched off by AGENT_FEEDBACK_ENABLED works without a key and an endpoint, as in development.
    """
    options, is_on = dict(settings), is_enabled()
    company_key = read_company_key(options.pop("company_key", None))
    mode = _read(options.pop("mode", None), "AGENT_FEEDBACK_MODE")
    options["mode"] = MODE_LABELS[0] if mode is None else mode
    for name, value in options.items():
        _check(name, value)
    return Options(
        api_key=read_product_key(api_key, is_required=is_on),
        endpoint=read_endpoint(endpoint, is_required=is_on),
        is_enabled=is_on,
        company_key=company_key,
        **options,
    )


def is_enabled() -> bool:
    """Tell whether the package is enabled: AGENT_FEEDBACK_ENABLED is not `false`."""
    return (_read(None, "AGENT_FEEDBACK_ENABLED") or "true").lower() not in ("false", "0", "no", "off")


def read_company_key(argument: str | None) -> CompanyKey | None:
    """Return the company key of the argument or else of the environment, or raise `InvalidOption`."""
    text = _read(argument, "AGENT_FEEDBACK_COMPANY_KEY")
    try:
        return None if text is None else CompanyKey(text)
    except (ValueError, TypeError):
        raise InvalidOption(f"company_key (or AGENT_FEEDBACK_COMPANY_KEY): {COMPANY_KEY_FORM}") from None


def read_product_key(argument: str | None, *, is_required: bool = True) -> ProductKey:
    """Return the product key of the argument or else of the environment, or raise `InvalidOption`.

    In place of a missing key that is not required there is one that no service knows.
    """
    text = _read(argument, "AGENT_FEEDBACK_KEY")
    if text in (None, ""):
        if is_required:
            raise InvalidOption("api_key (or AGENT_FEEDBACK_KEY): the product key is missing")
        text = f"af_live_{'0' * 32}_{os.urandom(32).hex()}"
    try:
        return ProductKey(text)
    except (ValueError, TypeError):
        raise InvalidOption(f"api_key (or AGENT_FEEDBACK_KEY): {PRODUCT_KEY_FORM}") from None


def read_endpoint(argument: str | None, *, is_required: bool = True) -> str:
    """Return the service's address, or raise `InvalidOption`; empty for a missing one that is not required."""
    error = InvalidOption(
        "endpoint (or AGENT_FEEDBACK_URL): an https URL without credentials, query or fragment is needed; "
        "http only for the machine itself"
    )
    text = _read(argument, "AGENT_FEEDBACK_URL")
    if text in (None, "") and not is_required:
        return ""
    if not isinstance(text, str):
        raise error
    url = text.rstrip("/")
    try:
        parts = urlsplit(url)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS)
        # Reading the port checks it.
        is_plain = parts.port != 0 and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        raise error from None
    if not (is_safe and is_plain and parts.hostname and url.isascii() and url.isprintable() and " " not in url):
        raise error
    return url


def _read(argument: Any, variable: str) -> Any:
    """Return an argument, or else a variable of the environment, trimmed; None without either."""
    if argument is None:
        return os.environ.get(variable, "").strip() or None
    return argument.strip() if isinstance(argument, str) else argument


def _check(name: str, value: Any) -> None:
    if name not in _RULES:
        names = sorted((*_RULES, "company_key"))
        raise InvalidOption(f"{name}: there is no such option; there are {', '.join(names)}")
    is_valid, requirement = _RULES[name]
    if not is_valid(value):
        raise InvalidOption(f"{name}: {requirement}")


def _is_time(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= MAX_TIME_S


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_callback(value: Any) -> bool:
    return value is None or (callable(value) and not _is_asynchronous(value))


def _is_asynchronous(value: Any) -> bool:
    # A process that has no callbacks starts sooner without it.
    from inspect import iscoroutinefunction  # noqa: PLC0415  # see above

    return iscoroutinefunction(value) or iscoroutinefunction(type(value).__call__)


def _is_hint(value: Any) -> bool:
    return value == USER_AGENT or _is_callback(value)


def _are_patterns(value: Any) -> bool:
    # A string is a sequence too, of characters that would be patterns.
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        return False
    return all(isinstance(pattern, str) and pattern.startswith(("/", "*")) for pattern in value)


_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "mode": (MODE_LABELS.__contains__, f"one of {', '.join(MODE_LABELS)} is needed"),
    "cache_mode": (CACHE_MODES.__contains__, f"one of {', '.join(CACHE_MODES)} is needed"),
    "service_name": (lambda value: isinstance(value, str) and bool(value.strip()), "a name is needed"),
    **dict.fromkeys(("include", "exclude"), (_are_patterns, "a list of path patterns is needed, each from / or *")),
    **dict.fromkeys(
        ("customer_ref", "session_ref", "operation", "should_instrument"),
        (_is_callback, "a function of the WSGI environment or ASGI scope, no asynchronous one, is needed"),
    ),
    "on_drop": (_is_callback, "a function of a reason and a number, no asynchronous one, is needed"),
    "runtime_hint": (
        _is_hint,
        f"a function of the WSGI environment or ASGI scope, no asynchronous one, or {USER_AGENT!r}, is needed",
    ),
    **dict.fromkeys(
        ("flush_interval", "timeout", "shutdown_timeout", "consent_cache_ttl", "context_timeout", "relay_timeout"),
        (_is_time, f"a number of seconds above zero, at most {MAX_TIME_S}, is needed"),
    ),
    **dict.fromkeys(
        ("max_queue_size", "max_attempts", "max_body_bytes", "consent_cache_size"),
        (_is_count, "a whole number above zero is needed"),
    ),
}
