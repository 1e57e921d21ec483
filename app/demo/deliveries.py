"""Write visits as batches of telemetry, some of which report losses, and count what was refused and sent twice."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

import msgspec

from app.demo.period import DAYS, Period
from app.demo.traffic import Visit
from app.demo.workspace import SampleEnvironment
from app.ledger.counts import Change, record_changes
from app.ledger.rules import LossReport, Measure, Source
from app.telemetry.persistence import persist_batches
from app.telemetry.schemas import TelemetryEvent
from app.version import VERSION

LOSS_SHARE = 0.004
LOSSES = (("queue_full", 14), ("undelivered", 6), ("shutdown", 3))
"""Reasons, and how many events are lost at most."""
DUPLICATES_PER_DAY = 3
REFUSED_DAY, REFUSED_EVENTS = 9, 18
REFUSAL = "bad_request"

_encoder = msgspec.json.Encoder()


def write_telemetry(period: Period, environment: SampleEnvironment, visits: Sequence[Visit]) -> None:
    """Persist visits, which are in the order of their arrival, as the batches of each minute."""
    random = period.random(f"deliveries {environment.product.slug} {environment.content.name}")
    batches = []
    for received_at, group in groupby(visits, key=lambda visit: visit.received_at):
        events = [_event(environment, visit) for visit in group]
        losses = {}
        if random.random() < LOSS_SHARE:
            reason, most = random.choice(LOSSES)
            losses = {reason: random.randint(1, most)}
        batches.append(_batch(environment, received_at, events, losses))
    persist_batches(batches)
    _count_others(period, environment)


def _event(environment: SampleEnvironment, visit: Visit) -> TelemetryEvent:
    customer_ref = None if visit.customer is None else customer_reference(environment, visit.customer)
    return TelemetryEvent(
        interaction_id=str(visit.id),
        surface=visit.operation.surface,
        operation=visit.operation.name,
        classification="confirmed" if visit.operation.surface == "mcp" else "unclassified",
        occurred_at=visit.occurred_at,
        status_code=visit.status_code,
        duration_ms=visit.duration_ms,
        customer_ref=customer_ref,
        runtime_hint=visit.hint,
        runtime_hint_source=("mcp" if visit.operation.surface == "mcp" else "http") if visit.hint else None,
        session_ref=visit.session_ref,
        session_source=visit.session_source,
    )


def customer_reference(environment: SampleEnvironment, number: int) -> str:
    """Return the reference of a customer, as the product sends it."""
    return f"{environment.product.reference}-{1001 + number}"


def _batch(
    environment: SampleEnvironment, received_at: datetime, events: list[TelemetryEvent], losses: dict[str, int]
) -> dict[str, Any]:
    return {
        "environment_id": environment.id,
        "received_at": received_at,
        "events": _encoder.encode(events).decode(),
        "event_count": len(events),
        "sdk": environment.product.sdk,
        "sdk_version": VERSION,
        "loss_report": _encoder.encode(LossReport(losses)).decode() if losses else None,
    }


def _count_others(period: Period, environment: SampleEnvironment) -> None:
    """Count what the service has no rows of: events that came twice, and on one day a batch that was refused."""
    changes = {}
    for day in range(DAYS - 1):
        change = _change(period, environment, day, Measure.DUPLICATE)
        changes[change] = DUPLICATES_PER_DAY if environment.content.name == "production" and day % 3 == 0 else 0
    if environment.content.name == "staging":
        changes[_change(period, environment, REFUSED_DAY, Measure.REFUSED, REFUSAL)] = REFUSED_EVENTS
    record_changes(changes)


def _change(period: Period, environment: SampleEnvironment, day: int, measure: Measure, name: str = "") -> Change:
    sender = (environment.product.sdk, VERSION)
    return Change(environment.id, period.at(day).date(), Source.TELEMETRY, *sender, measure, name)
