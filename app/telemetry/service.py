"""Accept batches of telemetry."""

from dataclasses import dataclass, replace

import msgspec

from app.core import clock
from app.core.database import PreparedStatement
from app.core.errors import BadRequest, Problem
from app.core.jobs import Job, notify
from app.core.limits.limiter import limiter
from app.interactions.rules import normalize_operation
from app.ledger.rules import NO_HEADERS, BatchHeaders
from app.products.key_cache import CallerEnvironment
from app.screening.service import reject_secrets
from app.telemetry.schemas import TelemetryBatch, TelemetryEvent
from config.limits import QuotaName

_encoder = msgspec.json.Encoder()

ADD_BATCH = PreparedStatement(
    "add_batch",
    """
    INSERT INTO telemetry_inbox (
        environment_id, received_at, events, event_count, sdk, sdk_version, batch_id, loss_report)
    VALUES (:environment_id, :received_at::timestamptz, :events, :event_count, :sdk, :sdk_version, :batch_id,
        :loss_report)
    """,
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The number of accepted events of a batch."""

    accepted: int
    dropped: int


def accept_batch(environment: CallerEnvironment, batch: TelemetryBatch, headers: BatchHeaders = NO_HEADERS) -> Receipt:
    """Store a batch in the inbox and notify its persistence, which counts it in the ledger.

    The events are encoded again rather than kept as they came, so that no second parser reads them differently.
    """
    _screen_hints(batch.events)
    with limiter().use_quota(QuotaName.EVENTS, environment.id, len(batch.events)):
        events = _encoder.encode(_normalize_operations(batch.events)).decode()
        ADD_BATCH.first(
            environment_id=environment.id,
            received_at=clock.now(),
            events=events,
            event_count=len(batch.events),
            sdk=headers.sender.sdk,
            sdk_version=headers.sender.version,
            batch_id=headers.batch_id,
            loss_report=_encoder.encode(headers.report).decode()
            if headers.report.lost or headers.report.unanswered
            else None,
        )
    notify(Job.PERSIST_TELEMETRY)
    return Receipt(accepted=len(batch.events), dropped=0)


def _normalize_operations(events: list[TelemetryEvent]) -> list[TelemetryEvent]:
    """Return the events with their operations normalized; each operation is looked at once."""
    operations = {event.operation for event in events}
    normalized_names = {
        operation: name for operation in operations if (name := normalize_operation(operation)) != operation
    }
    if not normalized_names:
        return events
    return [
        msgspec.structs.replace(event, operation=normalized_names[event.operation])
        if event.operation in normalized_names
        else event
        for event in events
    ]


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
