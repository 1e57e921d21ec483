"""Calls for customer context: bounded, failing open, told of once, and spared for a while after a failure."""

import http.client
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from agent_feedback.bounded import Answered, BoundedCalls
from agent_feedback.company_key import CompanyKey
from agent_feedback.pause import Pause

LONGEST_ANSWER = 1024 * 1024
PAUSE_S = 5.0
"""How long a service that failed is left alone; then one call finds out whether it is back."""
LONGEST_MESSAGE = 300

_FAILURES = (401, 408, 429)
"""Refusals that the next response would meet as well, beside every 5xx."""

logger = logging.getLogger("agent_feedback")

Content = dict[str, Any]
T = TypeVar("T")


class ContextError(Exception):
    """Customer context could not be had; raised only for `raise_errors=True`."""


class ContextUnavailable(ContextError):
    """The service did not answer in time, or not as it should, or it may not be asked."""


class ContextRefused(ContextError):
    """The service said no: `status`, its `code` and `message`, and one entry of `errors` for each problem."""

    def __init__(self, status: int, body: Any) -> None:
        told = body if isinstance(body, dict) else {}
        self.status, self.code, self.message = status, _clean(told.get("code")), _clean(told.get("error"))
        self.errors = [entry for entry in _list(told.get("errors")) if isinstance(entry, dict)]
        where = [f"{_clean(entry.get('pointer'))} {_clean(entry.get('message'))}" for entry in self.errors]
        super().__init__(f"{status} {self.code}: " + " / ".join([self.message, *where])[:LONGEST_MESSAGE])


@dataclass(frozen=True)
class Access:
    """Where customer context is, and the key to it."""

    key: CompanyKey | None
    endpoint: str
    timeout: float
    is_enabled: bool = True


class Question(NamedTuple):
    """One call; members of the body that are None are left out."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None

    def as_json(self) -> bytes | None:
        """Return the body as it is sent."""
        if self.body is None:
            return None
        told = {name: value for name, value in self.body.items() if value is not None}
        return json.dumps(told, separators=(",", ":"), allow_nan=False).encode()


class How(NamedTuple):
    """How one call ends: raising, and after how many seconds."""

    raise_errors: bool = False
    timeout: float | None = None


class ContextCalls:
    """Asks the service on behalf of the company."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._calls = BoundedCalls(access.endpoint, LONGEST_ANSWER) if access.key else None
        self._pause = Pause(PAUSE_S)
        self._told: set[str] = set()

    def call(self, question: Question, read: Callable[[Content], T], empty: T, how: How) -> T:
        """Return what was read from the service's answer, or `empty`."""
        try:
            # Who wants to know of errors is never put off.
            if not how.raise_errors and self._pause.holds():
                return empty
            content = self._ask(question, how.timeout)
            try:
                return read(content)
            except (KeyError, TypeError, ValueError, AttributeError):
                raise ContextUnavailable("the answer cannot be read") from None
        except Exception as error:
            if how.raise_errors:
                raise
            self._tell(question.path, error)
            return empty

    def close(self) -> None:
        """Close the idle connections."""
        if self._calls is not None:
            self._calls.close()

    def _ask(self, question: Question, timeout: float | None) -> Content:
        access = self._access
        if not access.is_enabled:
            raise ContextUnavailable("it is switched off by AGENT_FEEDBACK_ENABLED")
        if access.key is None or self._calls is None:
            raise ContextUnavailable("company_key (or AGENT_FEEDBACK_COMPANY_KEY) is needed")
        body = question.as_json()
        try:
            headers = {"Authorization": f"Bearer {access.key.reveal()}"}
            timeout = access.timeout if timeout is None else timeout
            answered = self._calls.call(question.method, question.path, body, headers, timeout)
            content = _read(answered)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._pause.begin()
            raise ContextUnavailable(f"no usable answer ({type(error).__name__})") from None
        if answered.status != 200:
            if answered.status in _FAILURES or answered.status >= 500:
                self._pause.begin()
            raise ContextRefused(answered.status, content)
        self._pause.end()
        return content

    def _tell(self, path: str, error: Exception) -> None:
        """Warn once of each kind: there may be thousands of responses a second."""
        if not self._access.is_enabled:
            return
        if isinstance(error, ContextRefused) and error.status < 500:
            # The path's first words: the rest may be a key of the company's own.
            kind = f"{'/'.join(path.split('/')[:5])} {error.status} {error.code}"
            message = f"customer context was refused at {kind}: {error}"
        elif isinstance(error, ContextError):
            kind, message = "unavailable", f"customer context is not available: {error}; the product goes on without it"
        else:
            kind, message = type(error).__name__, f"customer context was not asked for ({type(error).__name__})"
        if kind not in self._told:
            self._told.add(kind)
            logger.warning("%s", message)


def _read(answered: Answered) -> Content:
    """Return the object that came, or raise ValueError; a refusal may come from a proxy in between, in any form."""
    try:
        content = json.loads(answered.body)
        if isinstance(content, dict):
            return content
    except (ValueError, RecursionError):
        pass
    if 400 <= answered.status < 600:
        return {}
    raise ValueError("not an object")


def _clean(text: Any) -> str:
    """Return a service's words as one printable line."""
    found = text if isinstance(text, str) else ""
    return "".join(sign if sign.isprintable() else " " for sign in found[:LONGEST_MESSAGE])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
