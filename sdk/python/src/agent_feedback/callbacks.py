"""Call the company's callbacks for a request, and keep what the service accepts."""

import logging
import re
from typing import Any

from agent_feedback.operation import normalize_named_operation, normalize_operation
from agent_feedback.options import Options, RequestCallback
from agent_feedback.request import Caller, Request
from agent_feedback.runtime_hint import USER_AGENT, clean_hint, user_agent_hint

logger = logging.getLogger("agent_feedback")

_REFERENCE = re.compile(r"[A-Za-z0-9_.:-]{1,160}\Z")


class Callbacks:
    """The callbacks of one process; an unusable value of each is warned of once."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._has_references = bool(options.customer_ref or options.session_ref or options.runtime_hint)
        self._warned: set[str] = set()

    def should_instrument(self, request: Caller) -> bool:
        """Tell whether the company wants an envelope in the response to this request."""
        callback = self._options.should_instrument
        return callback is None or bool(callback(request.source))

    def references(self, request: Caller, *, hint_source: str = "http") -> dict[str, str]:
        """Return what the callbacks say of a request, by telemetry's names."""
        if not self._has_references:
            return {}
        options, source = self._options, request.source
        return self.members(
            _call(options.customer_ref, source),
            _call(options.session_ref, source),
            self._runtime_hint(request),
            hint_source=hint_source,
        )

    def members(
        self, customer_ref: Any, session_ref: Any, runtime_hint: str | None, *, hint_source: str = "http"
    ) -> dict[str, str]:
        """Return references and a clean hint by telemetry's names, without what the service would refuse."""
        members = {
            "customerRef": self._reference("customer_ref", customer_ref),
            "sessionRef": self._reference("session_ref", session_ref),
            "runtimeHint": runtime_hint,
        }
        if members["sessionRef"]:
            members["sessionSource"] = "customer"
        if members["runtimeHint"]:
            members["runtimeHintSource"] = hint_source
        return {name: value for name, value in members.items() if value}

    def operation(self, request: Request) -> str:
        """Return the operation of a request: the callback's if the service would take it, or else that of the path."""
        callback = self._options.operation
        operation = callback(request.source) if callback else None
        return normalize_operation(request.path) if operation is None else self.named_operation(operation, request.path)

    def named_operation(self, operation: Any, path: str) -> str:
        """Return an operation that the company has named, or that of the path where the service would refuse it."""
        operation_name = normalize_named_operation(operation)
        if operation_name is None:
            self._warn("operation", "the path is used instead: no white space, @ or control character is allowed")
        return operation_name or normalize_operation(path)

    def _reference(self, option: str, reference: Any) -> str | None:
        if not reference:
            return None
        if isinstance(reference, str) and _REFERENCE.match(reference):
            return reference
        # The service would refuse the event.
        self._warn(option, "it was left out: a text of 1 to 160 letters, digits and _.:- is needed")
        return None

    def _runtime_hint(self, request: Caller) -> str | None:
        source = self._options.runtime_hint
        if source == USER_AGENT:
            return user_agent_hint(request.header("user-agent"))
        return clean_hint(source(request.source)) if callable(source) else None

    def _warn(self, option: str, message: str) -> None:
        if option not in self._warned:
            self._warned.add(option)
            logger.warning("%s returned an unusable value; %s", option, message)


def _call(callback: RequestCallback | None, source: Any) -> Any:
    return callback(source) if callback else None
