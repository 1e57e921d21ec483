"""marshmallow schemas of telemetry."""

from datetime import datetime

from app.core.wire.fields import Choice, Identifier, Instant, Integer, Number, Text
from app.core.wire.schemas import List, Nested, Payload, Schema
from app.interactions.rules import (
    CLASSIFICATIONS,
    HINT_SOURCES,
    MAX_HINT_LENGTH,
    MAX_OPERATION_LENGTH,
    MAX_REFERENCE_LENGTH,
    OPERATION_PATTERN,
    REFERENCE_PATTERN,
    SESSION_SOURCES,
    SURFACES,
)

MAX_EVENTS = 100


class TelemetryEvent(Payload, frozen=True):
    """One product response, as the product reports it."""

    interaction_id: str
    surface: str
    operation: str
    classification: str
    occurred_at: datetime
    status_code: int | None = None
    duration_ms: float | None = None
    customer_ref: str | None = None
    runtime_hint: str | None = None
    runtime_hint_source: str | None = None
    session_ref: str | None = None
    session_source: str | None = None
    confirmation_method: str | None = None


class TelemetryBatch(Payload, frozen=True):
    """The events of one request."""

    events: list[TelemetryEvent]


class TelemetryEventSchema(Schema):
    """One interaction of the product, without anything of its content."""

    loads_into = TelemetryEvent

    interaction_id = Identifier(required=True)
    surface = Choice(SURFACES, required=True)
    operation = Text(max_length=MAX_OPERATION_LENGTH, pattern=OPERATION_PATTERN, required=True)
    classification = Choice(CLASSIFICATIONS, required=True)
    occurred_at = Instant(required=True)
    status_code = Integer(minimum=100, maximum=599)
    duration_ms = Number(minimum=0)
    customer_ref = Text(max_length=MAX_REFERENCE_LENGTH, pattern=REFERENCE_PATTERN)
    runtime_hint = Text(max_length=MAX_HINT_LENGTH)
    runtime_hint_source = Choice(HINT_SOURCES)
    session_ref = Text(max_length=MAX_REFERENCE_LENGTH, pattern=REFERENCE_PATTERN)
    session_source = Choice(SESSION_SOURCES)
    confirmation_method = Choice(("mcp",))


class TelemetryBatchSchema(Schema):
    """1 to 100 events; all are accepted or none."""

    loads_into = TelemetryBatch
    example = {
        "events": [
            {
                "interactionId": "5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10",
                "surface": "http_json",
                "operation": "/orders/:id",
                "classification": "unclassified",
                "occurredAt": "2026-01-31T12:00:00Z",
                "statusCode": 200,
                "durationMs": 12.5,
            }
        ]
    }

    events = List(Nested(TelemetryEventSchema), min_length=1, max_length=MAX_EVENTS, required=True)


class BatchReceiptSchema(Schema):
    """The number of accepted events."""

    example = {"accepted": 1, "dropped": 0}

    accepted = Integer(required=True)
    dropped = Integer(required=True)
