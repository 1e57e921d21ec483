"""Interactions: one response or tool call of the product, from its envelope to its telemetry."""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from agent_feedback.capability import LIFETIME_S, NONCE_BYTES, consent_subject, mint
from agent_feedback.consent import UNKNOWN, ConsentCache
from agent_feedback.envelope import Envelope, EnvelopeContext, build, encode
from agent_feedback.interaction_id import format_uuid, time_ordered_bytes
from agent_feedback.options import Options
from agent_feedback.telemetry.queue import TelemetryQueue
from agent_feedback.timestamps import timestamp

MAX_DURATION_DIGITS = 3


class Services(NamedTuple):
    """What all interactions of a process share."""

    options: Options
    consent: ConsentCache
    telemetry: TelemetryQueue


class Interaction:
    """One response or tool call of the product.

        interaction = feedback.start("checkout", customer_ref="account_42")
        answer["_agentFeedback"] = interaction.envelope()
        interaction.finish(status_code=200)

    `operation`, `references`, `surface` and `occurred_at`, in seconds since 1970, may be changed until it is finished.
    """

    def __init__(
        self,
        services: Services,
        operation: str,
        references: Mapping[str, str],
        *,
        surface: str = "http_json",
        interaction_id: str | None = None,
    ) -> None:
        # One call for all randomness: whoever waits for Python's lock gets it during a call of the system.
        random_bytes = time_ordered_bytes(16 + NONCE_BYTES)
        self.interaction_id = interaction_id or format_uuid(random_bytes[:16])
        self.operation, self.surface = operation, surface
        self.references, self._services = references, services
        self._nonce = random_bytes[16:]
        self._issued_at = time.time()
        self.occurred_at = self._issued_at
        self._is_finished = False

    def envelope(self) -> Envelope:
        """Return the envelope for the response; empty in the mode `off` and with the kill switch."""
        return build(self._envelope_context()) if self._is_recorded() else {}

    def encode_envelope(self) -> str:
        """Return `envelope` as JSON, faster than by encoding it."""
        return encode(self._envelope_context()) if self._is_recorded() else "{}"

    def finish(self, *, status_code: int | None = None, duration_ms: float | None = None) -> None:
        """Put the interaction's telemetry event into the queue, once."""
        if self._is_finished or not self._is_recorded():
            return
        self._is_finished = True
        event: dict[str, Any] = {
            "interactionId": self.interaction_id,
            "surface": self.surface,
            "operation": self.operation,
            "classification": "confirmed" if self.surface == "mcp" else "unclassified",
            "occurredAt": timestamp(self.occurred_at),
            **self.references,
        }
        if duration_ms is not None:
            event["durationMs"] = round(duration_ms, MAX_DURATION_DIGITS)
        if status_code is not None:
            event["statusCode"] = status_code
        self._services.telemetry.put(event)

    def _is_recorded(self) -> bool:
        options = self._services.options
        return options.is_enabled and options.mode != "off"

    def _envelope_context(self) -> EnvelopeContext:
        options, issued_at = self._services.options, int(self._issued_at)
        customer_ref, subject, decision = self.references.get("customerRef"), None, UNKNOWN
        if options.mode == "ask_once" and customer_ref:
            subject = consent_subject(options.api_key.scope, customer_ref)
            decision = self._services.consent.find(subject)
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
            reliability="mcp" if self.surface == "mcp" else "http",
        )
