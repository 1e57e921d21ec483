"""What a company sets, in code or in the environment. A mistake shows when the process starts, never in a request."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agent_feedback.capability import ProductKey

MODES = ("never_ask",)
CACHE_MODES = ("safe", "private")

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


def read_options(api_key: str | None, endpoint: str | None, settings: Mapping[str, Any]) -> Options:
    """Join arguments and environment, arguments first, or raise `BadOption`."""
    key_text = api_key or os.environ.get("AGENT_FEEDBACK_KEY", "")
    is_enabled = os.environ.get("AGENT_FEEDBACK_ENABLED", "true").strip().lower() not in ("false", "0", "no", "off")
    try:
        key = ProductKey(key_text.strip())
    except ValueError as error:
        raise BadOption(f"api_key (or AGENT_FEEDBACK_KEY): {error}") from None
    url = (endpoint or os.environ.get("AGENT_FEEDBACK_URL", "")).strip().rstrip("/")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise BadOption("endpoint (or AGENT_FEEDBACK_URL): the https URL of the service is needed")
    chosen = {"mode": os.environ.get("AGENT_FEEDBACK_MODE") or "never_ask", **settings}
    for name, allowed in (("mode", MODES), ("cache_mode", CACHE_MODES)):
        if chosen.get(name, allowed[0]) not in allowed:
            raise BadOption(f"{name}: one of {', '.join(allowed)}")
    for name in ("flush_interval", "max_queue_size", "timeout", "max_attempts", "shutdown_timeout", "max_body_bytes"):
        if name in chosen and not chosen[name] > 0:
            raise BadOption(f"{name}: must be above zero")
    try:
        return Options(api_key=key, endpoint=url, is_enabled=is_enabled, **chosen)
    except TypeError as error:
        raise BadOption(str(error).replace("Options.__init__() got an ", "")) from None
