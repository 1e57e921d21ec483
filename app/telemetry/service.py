"""Accepting batches."""

from dataclasses import dataclass, replace
from datetime import UTC, timedelta

import msgspec

from app.core import clock
from app.core.database import HotStatement
from app.core.errors import BadRequest, Problem
from app.core.jobs import Job, ring
from app.products.known_keys import CallingEnvironment
from app.screening.service import reject_secrets
from app.telemetry.schemas import TelemetryBatch, TelemetryEvent

_encoder = msgspec.json.Encoder()

WIDEST_OFFSET = timedelta(hours=16)

_ADD = HotStatement(
    "add_batch",
    ["uuid", "timestamptz", "text", "integer"],
    "INSERT INTO telemetry_inbox (environment_id, received_at, events, event_count) VALUES ($1, $2, $3, $4)",
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a batch."""

    accepted: int
    dropped: int


def accept_batch(environment: CallingEnvironment, batch: TelemetryBatch) -> Receipt:
    """Write the batch down and ring for its persistence.

    The events are encoded again rather than kept as they came, so that no second parser can read them differently.
    """
    _screen_hints(batch.events)
    events = _encoder.encode([_storable(event) for event in batch.events]).decode()
    _ADD.run(environment.id, clock.now(), events, len(batch.events))
    ring(Job.PERSIST_TELEMETRY)
    return Receipt(accepted=len(batch.events), dropped=0)


def _screen_hints(events: list[TelemetryEvent]) -> None:
    """Raise `BadRequest` with every hint that holds a secret; a hint that several events share is scanned once."""
    pointers: dict[str, list[str]] = {}
    for index, event in enumerate(events):
        if event.runtime_hint is not None:
            pointers.setdefault(event.runtime_hint, []).append(f"/events/{index}/runtimeHint")
    problems: list[Problem] = []
    for hint, hint_pointers in pointers.items():
        try:
            reject_secrets([(hint_pointers[0], hint)])
        except BadRequest as error:
            problems += [replace(error.problems[0], pointer=pointer) for pointer in hint_pointers]
    if problems:
        raise BadRequest(problems[0].message, code=problems[0].code, problems=problems)


def _storable(event: TelemetryEvent) -> TelemetryEvent:
    """Return an event whose instant PostgreSQL can read: it knows no offset of sixteen hours and more."""
    offset = event.occurred_at.utcoffset()
    if offset is None or abs(offset) < WIDEST_OFFSET:
        return event
    try:
        instant = event.occurred_at.astimezone(UTC)
    except OverflowError:
        # Within a day of the first or the last instant that there is.
        instant = event.occurred_at.replace(tzinfo=UTC)
    return msgspec.structs.replace(event, occurred_at=instant)
