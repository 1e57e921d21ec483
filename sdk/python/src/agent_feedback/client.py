"""The company's side: one object for each process that starts interactions and holds the queue, caches and clients."""

import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from agent_feedback.adapters.wsgi import WsgiAdapter
from agent_feedback.capability import LIFETIME_S, NONCE_BYTES, consent_subject, mint
from agent_feedback.consent import UNKNOWN, ConsentCache
from agent_feedback.context import CustomerContext
from agent_feedback.envelope import EnvelopeContext, build, encode
from agent_feedback.interaction_id import format_uuid, time_ordered_bytes
from agent_feedback.operation import normalize_named_operation, normalize_operation
from agent_feedback.options import RequestCallback, read_options
from agent_feedback.runtime_hint import USER_AGENT, clean_hint, user_agent_hint
from agent_feedback.telemetry import TelemetryQueue
from agent_feedback.timestamps import timestamp

logger = logging.getLogger("agent_feedback")

S = TypeVar("S")

_REFERENCE = re.compile(r"[A-Za-z0-9_.:-]{1,160}\Z")


class AgentFeedback:
    """The entry point of this package for a product; make one for each process.

    Options are named as in `agent_feedback.Options`; the key and the endpoint may also come from the environment
    (AGENT_FEEDBACK_KEY, AGENT_FEEDBACK_URL). With a company key (AGENT_FEEDBACK_COMPANY_KEY), `customer_context` can
    request context from agents.
    """

    def __init__(self, api_key: str | None = None, *, endpoint: str | None = None, **settings: Any) -> None:
        self.options = read_options(api_key, endpoint, settings)
        self.telemetry = TelemetryQueue(self.options)
        self.consent = ConsentCache(self.options)
        self.customer_context = CustomerContext.from_options(self.options)
        self._warned: set[str] = set()

    def wsgi(self, app: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a WSGI application: eligible responses carry an envelope, and the context action that it requests."""
        options = self.options
        has_work = options.mode != "off" or options.company_key is not None
        return WsgiAdapter(app, self) if options.is_enabled and has_work else app

    def mcp(self, server: S) -> S:
        """Wrap the tools of an MCP server of the official SDK and return it; needs the extra `[mcp]`.

        Callbacks take the SDK's `ServerRequestContext`: its `request` is the HTTP request, None over stdio.
        """
        if not self.options.is_enabled or self.options.mode == "off":
            return server
        # The MCP SDK takes a second to import, and is installed only where it is used.
        from agent_feedback.mcp import instrument  # noqa: PLC0415  # see above

        return instrument(server, self)

    def start_interaction(self, interaction_id: str | None = None) -> "Interaction":
        """Start an interaction."""
        return Interaction(self, interaction_id)

    def references(self, request: Any, *, user_agent: Any, source: str = "http") -> dict[str, str]:
        """Return what the company's callbacks say of a request, by telemetry's names, without what would be refused.

        `request` is what they take: a WSGI environment, or the context of an MCP request. `user_agent` is the software
        that the agent says it is.
        """
        options = self.options
        if not (options.customer_ref or options.session_ref or options.runtime_hint):
            return {}
        members = {
            "customerRef": self._reference("customer_ref", options.customer_ref, request),
            "sessionRef": self._reference("session_ref", options.session_ref, request),
            "runtimeHint": self._runtime_hint(request, user_agent),
        }
        if members["sessionRef"]:
            members["sessionSource"] = "customer"
        if members["runtimeHint"]:
            members["runtimeHintSource"] = source
        return {name: value for name, value in members.items() if value}

    def operation(self, environ: Mapping[str, Any], path: str) -> str:
        """Return the operation of a request: the callback's if the service would take it, or else that of the path."""
        callback = self.options.operation
        operation = callback(environ) if callback else None
        if operation is None:
            return normalize_operation(path)
        operation_name = normalize_named_operation(operation)
        if operation_name is None:
            self._warn_once("operation", "the path is used instead: no white space, @ or control character is allowed")
        return operation_name or normalize_operation(path)

    def flush(self, timeout: float | None = None) -> bool:
        """Send the queued telemetry; return whether all of it was sent or dropped within `timeout` seconds."""
        return self.telemetry.flush(timeout)

    def shutdown(self, timeout: float | None = None) -> int:
        """Send the queued telemetry and stop; return how many events were lost."""
        self.customer_context.close()
        return self.telemetry.shutdown(timeout)

    def _reference(self, option: str, callback: RequestCallback | None, request: Any) -> str | None:
        reference = callback(request) if callback else None
        if not reference:
            return None
        if isinstance(reference, str) and _REFERENCE.match(reference):
            return reference
        # The service would refuse the event.
        self._warn_once(option, "it was left out: a text of 1 to 160 letters, digits and _.:- is needed")
        return None

    def _runtime_hint(self, request: Any, user_agent: Any) -> str | None:
        source = self.options.runtime_hint
        if source == USER_AGENT:
            return user_agent_hint(user_agent)
        return clean_hint(source(request)) if callable(source) else None

    def _warn_once(self, option: str, message: str) -> None:
        if option not in self._warned:
            self._warned.add(option)
            logger.warning("%s returned an unusable value; %s", option, message)


class Interaction:
    """One response of the product, from its envelope to its telemetry."""

    def __init__(self, client: AgentFeedback, interaction_id: str | None) -> None:
        # One call for all randomness: whoever waits for Python's lock gets it during a call of the system.
        random_bytes = time_ordered_bytes(16 + NONCE_BYTES)
        self._client, self.interaction_id = client, interaction_id or format_uuid(random_bytes[:16])
        self._nonce = random_bytes[16:]
        self._issued_at = time.time()

    def envelope(self, customer_ref: str | None = None) -> dict[str, Any]:
        """Return the envelope for the response; with a customer, by that customer's cached consent decision."""
        return build(self._envelope_context(customer_ref))

    def encode_envelope(self, customer_ref: str | None = None) -> str:
        """Return `envelope` as JSON, faster than by encoding it."""
        return encode(self._envelope_context(customer_ref))

    def _envelope_context(self, customer_ref: str | None) -> EnvelopeContext:
        options, issued_at = self._client.options, int(self._issued_at)
        subject = None
        decision = UNKNOWN
        if options.mode == "ask_once" and customer_ref:
            subject = consent_subject(options.api_key.scope, customer_ref)
            decision = self._client.consent.find(subject)
        capability = mint(
            options.api_key,
            self.interaction_id,
            issued_at,
            subject=subject,
            revision=decision.revision or None,
            nonce=self._nonce,
        )
        return EnvelopeContext(
            options.endpoint,
            capability,
            issued_at + LIFETIME_S,
            options.mode,
            has_customer=subject is not None,
            decision=decision.state,
            service_name=options.service_name,
        )

    def record(self, surface: str, operation: str, **details: Any) -> None:
        """Put the interaction's telemetry event into the queue; details that are None are omitted."""
        if not self._client.options.is_enabled:
            return
        event: dict[str, Any] = {
            "interactionId": self.interaction_id,
            "surface": surface,
            "operation": operation,
            "classification": "confirmed" if surface == "mcp" else "unclassified",
            "occurredAt": timestamp(self._issued_at),
            **{name: value for name, value in details.items() if value is not None},
        }
        self._client.telemetry.put(event)
