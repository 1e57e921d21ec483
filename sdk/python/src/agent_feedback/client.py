"""The company's side: one object that prepares envelopes and tells of interactions."""

import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from agent_feedback import envelope
from agent_feedback.capability import LIFETIME_S, mint
from agent_feedback.options import read_options
from agent_feedback.telemetry import TelemetryQueue, timestamp
from agent_feedback.wsgi import WsgiAdapter


class AgentFeedback:
    """What a product needs of this package; make one for each process.

    Options are named as in `agent_feedback.Options`; the key and the endpoint may also come from the environment
    (AGENT_FEEDBACK_KEY, AGENT_FEEDBACK_URL).
    """

    def __init__(self, api_key: str | None = None, *, endpoint: str | None = None, **settings: Any) -> None:
        self.options = read_options(api_key, endpoint, settings)
        self.telemetry = TelemetryQueue(self.options)

    def wsgi(self, app: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a WSGI application: eligible responses carry an envelope."""
        return WsgiAdapter(app, self) if self.options.is_enabled else app

    def prepare(self) -> "Preparation":
        """Begin an interaction."""
        return Preparation(self)

    def flush(self, timeout: float | None = None) -> bool:
        """Send the telemetry that waits; returns whether all was dealt with in time (in seconds)."""
        return self.telemetry.flush(timeout)

    def shutdown(self, timeout: float | None = None) -> int:
        """Send the telemetry that waits and stop; returns how many events were lost."""
        return self.telemetry.shutdown(timeout)


class Preparation:
    """One interaction between its envelope and its telemetry."""

    def __init__(self, client: AgentFeedback) -> None:
        self._client = client
        self.interaction_id = str(uuid.uuid4())
        self._issued_at = time.time()

    def envelope(self) -> dict[str, Any]:
        """Return the envelope to append to the response."""
        options, issued_at = self._client.options, int(self._issued_at)
        capability = mint(options.api_key, self.interaction_id, issued_at)
        return envelope.never_ask(options.endpoint, capability, issued_at + LIFETIME_S)

    def tell(self, surface: str, operation: str, **details: Any) -> None:
        """Put the interaction's telemetry into the queue; details that are None are left out."""
        event: dict[str, Any] = {
            "interactionId": self.interaction_id,
            "surface": surface,
            "operation": operation,
            "classification": "confirmed" if surface == "mcp" else "unclassified",
            "occurredAt": timestamp(self._issued_at),
        }
        event.update((name, value) for name, value in details.items() if value is not None)
        self._client.telemetry.put(event)

    def references(self, environ: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the company's own callbacks know of this request."""
        options = self._client.options
        found = {
            "customerRef": options.customer_ref and options.customer_ref(environ),
            "sessionRef": options.session_ref and options.session_ref(environ),
            "runtimeHint": options.runtime_hint and options.runtime_hint(environ),
        }
        if found["sessionRef"]:
            found["sessionSource"] = "customer"
        if found["runtimeHint"]:
            found["runtimeHintSource"] = "http"
        return {name: value for name, value in found.items() if value}
