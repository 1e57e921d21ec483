"""The company's side: one object that prepares envelopes and tells of interactions."""

import logging
import re
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from agent_feedback import envelope
from agent_feedback.capability import LIFETIME_S, consent_subject, mint
from agent_feedback.consent import UNKNOWN, ConsentStates
from agent_feedback.customer_context import CustomerContext
from agent_feedback.options import Reference, read_options
from agent_feedback.telemetry import TelemetryQueue, timestamp
from agent_feedback.wsgi import WsgiAdapter

LONGEST_HINT = 200

logger = logging.getLogger("agent_feedback")

_REFERENCE = re.compile(r"[A-Za-z0-9_.:-]{1,160}\Z")


class AgentFeedback:
    """What a product needs of this package; make one for each process.

    Options are named as in `agent_feedback.Options`; the key and the endpoint may also come from the environment
    (AGENT_FEEDBACK_KEY, AGENT_FEEDBACK_URL). With a company key (AGENT_FEEDBACK_COMPANY_KEY), `customer_context` asks
    agents what helps to serve their users.
    """

    def __init__(self, api_key: str | None = None, *, endpoint: str | None = None, **settings: Any) -> None:
        self.options = read_options(api_key, endpoint, settings)
        self.telemetry = TelemetryQueue(self.options)
        self.consent = ConsentStates(self.options)
        self.customer_context = CustomerContext.of(self.options)
        self._left_out: set[str] = set()

    def wsgi(self, app: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a WSGI application: eligible responses carry an envelope, and what the product asks for."""
        options = self.options
        has_work = options.mode != "off" or options.company_key is not None
        return WsgiAdapter(app, self) if options.is_enabled and has_work else app

    def prepare(self, interaction_id: str | None = None) -> "Preparation":
        """Begin an interaction."""
        return Preparation(self, interaction_id or str(uuid.uuid4()))

    def reference(self, name: str, callback: Reference | None, environ: Mapping[str, Any]) -> str | None:
        """Return what a callback says, if the service can take it."""
        found = callback(environ) if callback else None
        if not found:
            return None
        if isinstance(found, str) and _REFERENCE.match(found):
            return found
        # One malformed reference would have the service refuse every event of its batch.
        if name not in self._left_out:
            self._left_out.add(name)
            logger.warning("%s was left out: a text of 1 to 160 letters, digits and _.:- is needed", name)
        return None

    def flush(self, timeout: float | None = None) -> bool:
        """Send the telemetry that waits; returns whether all was dealt with in time (in seconds)."""
        return self.telemetry.flush(timeout)

    def shutdown(self, timeout: float | None = None) -> int:
        """Send the telemetry that waits and stop; returns how many events were lost."""
        self.customer_context.close()
        return self.telemetry.shutdown(timeout)


class Preparation:
    """One interaction between its envelope and its telemetry."""

    def __init__(self, client: AgentFeedback, interaction_id: str) -> None:
        self._client, self.interaction_id = client, interaction_id
        self._issued_at = time.time()

    def envelope(self, customer_ref: str | None = None) -> dict[str, Any]:
        """Return the envelope to append to the response; a customer's choice is remembered under an opaque name."""
        options, issued_at = self._client.options, int(self._issued_at)
        subject = None
        choice = UNKNOWN
        if options.mode == "ask_once" and customer_ref:
            subject = consent_subject(options.api_key.scope, customer_ref)
            choice = self._client.consent.find(subject)
        capability = mint(
            options.api_key, self.interaction_id, issued_at, subject=subject, revision=choice.revision or None
        )
        return envelope.build(
            envelope.Occasion(
                options.endpoint,
                capability,
                issued_at + LIFETIME_S,
                options.mode,
                has_customer=subject is not None,
                choice=choice.state,
                service_name=options.service_name,
            )
        )

    def tell(self, surface: str, operation: str, **details: Any) -> None:
        """Put the interaction's telemetry into the queue; details that are None are left out."""
        if not self._client.options.is_enabled:
            return
        event: dict[str, Any] = {
            "interactionId": self.interaction_id,
            "surface": surface,
            "operation": operation,
            "classification": "confirmed" if surface == "mcp" else "unclassified",
            "occurredAt": timestamp(self._issued_at),
        }
        event.update((name, value) for name, value in details.items() if value is not None)
        self._client.telemetry.put(event)

    def references(self, environ: Mapping[str, Any]) -> dict[str, str]:
        """Return what the company's own callbacks know of this request, without what the service would refuse."""
        options = self._client.options
        found = {
            "customerRef": self._client.reference("customer_ref", options.customer_ref, environ),
            "sessionRef": self._client.reference("session_ref", options.session_ref, environ),
            "runtimeHint": _hint(options.runtime_hint, environ),
        }
        if found["sessionRef"]:
            found["sessionSource"] = "customer"
        if found["runtimeHint"]:
            found["runtimeHintSource"] = "http"
        return {name: value for name, value in found.items() if value}


def _hint(callback: Reference | None, environ: Mapping[str, Any]) -> str | None:
    found = callback(environ) if callback else None
    return found.strip()[:LONGEST_HINT] if isinstance(found, str) and found.isprintable() else None
