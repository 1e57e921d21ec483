"""Accepting batches."""

from dataclasses import dataclass

import msgspec

from app.core import clock
from app.core.database import HotStatement
from app.core.jobs import Job, ring
from app.products.known_keys import CallingEnvironment
from app.screening.service import refuse_private
from app.telemetry.schemas import TelemetryBatch

_encoder = msgspec.json.Encoder()

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
    pointers: dict[str, str] = {}
    for index, event in enumerate(batch.events):
        if event.runtime_hint is not None:
            pointers.setdefault(event.runtime_hint, f"/events/{index}/runtimeHint")
    for hint, pointer in pointers.items():
        refuse_private([(pointer, hint)])
    _ADD.run(environment.id, clock.now(), _encoder.encode(batch.events).decode(), len(batch.events))
    ring(Job.PERSIST_TELEMETRY)
    return Receipt(accepted=len(batch.events), dropped=0)
