"""Calls for customer context: bounded in time, failing open, behind a circuit breaker, with few warnings."""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from agent_feedback import protocol_files
from agent_feedback.errors import ServiceError, ServiceRefused, ServiceUnavailable
from agent_feedback.http.circuit_breaker import CircuitBreaker
from agent_feedback.http.client import HttpClient, HttpResponse
from agent_feedback.keys import CompanyKey

_BOUNDS: dict[str, Any] = protocol_files.read("contract.json")["contextClient"]

BREAKER_OPEN_S: float = _BOUNDS["pauseMs"] / 1000

_OUTAGE_STATUSES: list[int] = _BOUNDS["pausingStatuses"]
"""Error statuses that every other call would meet as well, beside every 5xx."""

logger = logging.getLogger("agent_feedback")

JsonObject = dict[str, Any]
T = TypeVar("T")


class ContextAccess(NamedTuple):
    """Where customer context is, and the key to it; the timeout in seconds."""

    key: CompanyKey | None
    endpoint: str
    timeout: float
    is_enabled: bool = True


class ContextCall(NamedTuple):
    """One request; members of the body that are None are omitted."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None

    def as_json(self) -> bytes | None:
        """Return the body as JSON."""
        if self.body is None:
            return None
        members = {name: value for name, value in self.body.items() if value is not None}
        return json.dumps(members, separators=(",", ":"), allow_nan=False).encode()


class CallOptions(NamedTuple):
    """Whether one call raises its errors, and its own timeout in seconds."""

    raise_errors: bool = False
    timeout: float | None = None


class ContextClient:
    """Calls the service on behalf of the company."""

    def __init__(self, access: ContextAccess) -> None:
        self._access = access
        self._http = HttpClient(access.endpoint) if access.key else None
        self._breaker = CircuitBreaker(BREAKER_OPEN_S)
        self._warned: set[str] = set()

    def call(self, call: ContextCall, parse: Callable[[JsonObject], T], default: T, options: CallOptions) -> T:
        """Return what `parse` makes of the service's answer; `default` after an error, unless errors are raised."""
        try:
            # A caller that wants the errors gets the real one.
            if not options.raise_errors and self._breaker.is_open():
                return default
            return self._send(call, parse, options.timeout)
        except Exception as error:
            if options.raise_errors:
                raise
            self._warn(call.path, error)
            return default

    def close(self) -> None:
        """Close the idle connections."""
        if self._http is not None:
            self._http.close()

    def _send(self, call: ContextCall, parse: Callable[[JsonObject], T], timeout: float | None) -> T:
        access = self._access
        if not access.is_enabled:
            raise ServiceUnavailable("it is switched off by AGENT_FEEDBACK_ENABLED")
        if access.key is None or self._http is None:
            raise ServiceUnavailable("company_key (or AGENT_FEEDBACK_COMPANY_KEY) is needed")
        body = call.as_json()
        headers = {"Authorization": f"Bearer {access.key.reveal()}"}
        try:
            timeout_s = access.timeout if timeout is None else timeout
            response = self._http.request(call.method, call.path, body, headers, timeout_s)
            content = _parse(response)
            if response.status == 200:
                result = _read(content, parse)
                self._breaker.close()
                return result
        except ServiceUnavailable:
            self._breaker.open()
            raise
        if response.status in _OUTAGE_STATUSES or response.status >= 500:
            self._breaker.open(response.retry_after_s)
        raise ServiceRefused(response.status, content)

    def _warn(self, path: str, error: Exception) -> None:
        """Warn once of each kind: there may be thousands of responses a second."""
        if not self._access.is_enabled:
            return
        if isinstance(error, ServiceRefused) and error.status < 500:
            # Only the first words of the path: the rest may be a field's key of the company's own.
            kind = f"{'/'.join(path.split('/')[:5])} {error.status} {error.code}"
            message = f"customer context was refused at {kind}: {error}"
        elif isinstance(error, ServiceError):
            kind, message = "unavailable", f"customer context is not available: {error}; the product goes on without it"
        else:
            kind, message = type(error).__name__, f"customer context was not requested ({type(error).__name__})"
        if kind not in self._warned:
            self._warned.add(kind)
            logger.warning("%s", message)


def _read(content: JsonObject, parse: Callable[[JsonObject], T]) -> T:
    """Return what `parse` makes of an answer; raise `ServiceUnavailable` for one that lacks what is needed."""
    try:
        return parse(content)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ServiceUnavailable("the answer cannot be read") from None


def _parse(response: HttpResponse) -> JsonObject:
    """Return the answer's JSON object; empty for an error status without one, as proxies send."""
    try:
        content = json.loads(response.body)
        if isinstance(content, dict):
            return content
    except (ValueError, RecursionError):
        pass
    if 400 <= response.status < 600:
        return {}
    raise ServiceUnavailable("no usable answer (no JSON object)")
