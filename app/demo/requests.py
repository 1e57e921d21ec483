"""Requests for context, their answers, and the signals that are remembered."""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from app.catalog.entries import Catalog, Entry, hash_entries
from app.customers.rules import ContextPurpose, Level
from app.demo.period import Ids, Period
from app.demo.traffic import Visit
from app.demo.workspace import SampleEnvironment
from app.enrichment.bulk import insert_field_days, insert_requests, insert_signals
from app.enrichment.requests import REPEATED_MEMBERS
from app.enrichment.rules import (
    CURRENT_TASK,
    HANDLE_LIFETIME_S,
    INFERENCE,
    INTERACTION_SURFACES,
    PROVENANCES,
    STATEMENT,
    State,
    expiry,
    is_usable,
    summarize,
)
from app.enrichment.views import usable_entries
from app.products.rules import DEFAULT_RETENTION_DAYS

LIFETIME = timedelta(seconds=HANDLE_LIFETIME_S)
ANSWER_DELAY = timedelta(seconds=50)
MARGIN = timedelta(hours=1)
"""What ends within this time is left out: it would be removed while somebody looks."""
REMEMBERED_SHARE = 0.82
PROVENANCE_WEIGHTS = {STATEMENT: 55, CURRENT_TASK: 30, INFERENCE: 15}
EARLIER_END_SHARE = 0.2
EARLIER_END_DAYS = (3, 45)
FINGERPRINT_BYTES = 8 * len(REPEATED_MEMBERS)

_REQUEST_SURFACES = {surface: name for name, surface in INTERACTION_SURFACES.items()}


@dataclass(frozen=True)
class ContextRequest:
    """A request of a visit, and how it was answered, if it was."""

    visit: Visit
    customer_id: uuid.UUID
    level: Level
    purpose: ContextPurpose
    status: str | None

    @property
    def answered_at(self) -> datetime:
        """When the answer arrived."""
        return self.visit.received_at + ANSWER_DELAY


class RequestWriter:
    """Collects the requests of one environment, and inserts what is left of them."""

    def __init__(self, period: Period, ids: Ids, environment: SampleEnvironment, catalog: Catalog) -> None:
        self._period, self._ids, self._environment, self._catalog = period, ids, environment, catalog
        self._random = period.random(f"requests {environment.product.slug}")
        self._remembered: dict[tuple[uuid.UUID, str, str], dict[str, Any]] = {}
        self._passing: list[dict[str, Any]] = []
        self._open: list[dict[str, Any]] = []
        self._closed: list[dict[str, Any]] = []
        self._answers: list[dict[str, Any]] = []
        self._field_counts: dict[tuple[date, str, str], list[int]] = defaultdict(lambda: [0, 0])
        """How often fields were asked for and answered in closed requests, by day, key and purpose."""

    def add(self, request: ContextRequest, entries: Sequence[Entry]) -> None:
        """Add a request, and a signal for each entry that is answered."""
        signals = [self._signal(request, entry) for entry in entries]
        is_answered = request.status is not None and self._period.is_past(request.answered_at)
        if is_answered:
            for signal in signals:
                self._remember(signal)
            self._answers.append({**self._key(request), "created_at": request.answered_at})
        expires_at = request.visit.received_at + LIFETIME
        if expires_at > self._period.end + MARGIN:
            self._open.append(self._row(request, expires_at, signals if is_answered else None))
            return
        # What ends in the coming hour has ended already, too.
        self._closed.append({**self._key(request), "closed_at": min(expires_at, self._period.end)})
        self._count(request, signals if is_answered else [])

    def forget(self, visit: Visit, purpose: str) -> None:
        """Remove what is remembered of a customer for a purpose, as a refusal does."""
        customer_id = self._ids.make(f"customer {self._environment.product.slug}", visit.customer)
        for name in [name for name in self._remembered if name[:2] == (customer_id, purpose)]:
            del self._remembered[name]
        self._passing = [s for s in self._passing if (s["customer_id"], s["purpose"]) != (customer_id, purpose)]

    def signal_ids(self, visit: Visit) -> list[uuid.UUID]:
        """Return the remembered signals of a visit's customer, as a retrieval of that moment finds them."""
        customer_id = self._ids.make(f"customer {self._environment.product.slug}", visit.customer)
        return sorted(
            signal["id"]
            for (owner_id, purpose, _), signal in self._remembered.items()
            if owner_id == customer_id
            and purpose == ContextPurpose.PRODUCT_PERSONALIZATION
            and signal["created_at"] <= visit.received_at
        )

    def write(self) -> None:
        """Insert requests and signals."""
        insert_requests(self._open, self._closed, self._answers)
        insert_field_days([self._field_day(*name, *counts) for name, counts in sorted(self._field_counts.items())])
        insert_signals([*self._remembered.values(), *self._passing])

    def _count(self, request: ContextRequest, signals: Sequence[dict[str, Any]]) -> None:
        """Count the fields of a closed request."""
        day_on, purpose = request.visit.received_at.date(), str(request.purpose)
        for entry in self._usable_entries(request):
            self._field_counts[day_on, entry.key, purpose][0] += 1
        for signal in signals:
            self._field_counts[day_on, signal["key"], purpose][1] += 1

    def _field_day(self, day_on: date, key: str, purpose: str, asked: int, answered: int) -> dict[str, Any]:
        names = {"environment_id": self._environment.id, "day_on": day_on, "key": key, "purpose": purpose}
        return {**names, "asked": asked, "answered": answered}

    def _usable_entries(self, request: ContextRequest) -> list[Entry]:
        return usable_entries(self._catalog, request.visit.operation.name, request.purpose)

    def _withheld_keys(self, purpose: ContextPurpose) -> list[str]:
        entries = self._catalog.entries
        return [entry.key for entry in entries if not is_usable(entry.targeted_advertising_safe, purpose)]

    def _remember(self, signal: dict[str, Any]) -> None:
        if signal["remembered"]:
            self._remembered[signal["customer_id"], signal["purpose"], signal["key"]] = signal
        elif signal["expires_at"] > self._period.end + MARGIN:
            self._passing.append(signal)

    def _signal(self, request: ContextRequest, entry: Entry) -> dict[str, Any]:
        random, now = self._random, request.answered_at
        (provenance,) = random.choices(PROVENANCES, [PROVENANCE_WEIGHTS[name] for name in PROVENANCES])
        is_remembered = random.random() < REMEMBERED_SHARE and provenance != INFERENCE
        earlier_end = self._period.end + timedelta(days=random.uniform(*EARLIER_END_DAYS))
        requested_end = earlier_end if random.random() < EARLIER_END_SHARE else None
        value, confidence = random.choice(entry.allowed_values), round(random.uniform(0.6, 1), 2)
        days = DEFAULT_RETENTION_DAYS if is_remembered else None
        return {
            "product_id": self._environment.product_id,
            "id": self._ids.make("signal", f"{request.visit.id} {entry.key}"),
            **self._key(request),
            "customer_id": request.customer_id,
            "identity_level": request.level,
            "purpose": request.purpose,
            "key": entry.key,
            "type": entry.authored_type,
            "value": value,
            "summary": summarize(entry.label, value),
            "provenance": provenance,
            "confidence": confidence,
            "remembered": is_remembered,
            "created_at": now,
            "expires_at": expiry(now, requested_end, request.visit.received_at + LIFETIME, days),
        }

    def _key(self, request: ContextRequest) -> dict[str, Any]:
        return {"environment_id": self._environment.id, "interaction_id": request.visit.id}

    def _row(
        self, request: ContextRequest, expires_at: datetime, signals: Sequence[dict[str, Any]] | None
    ) -> dict[str, Any]:
        visit, catalog = request.visit, self._catalog
        entries = self._usable_entries(request)
        digest = self._ids.digest("request members", visit.id) * FINGERPRINT_BYTES
        status = None if signals is None else request.status
        return {
            **self._key(request),
            "id": self._ids.make("request", visit.id),
            "product_id": self._environment.product_id,
            "customer_id": request.customer_id,
            "identity_level": request.level,
            "key_id": self._environment.key_id(self._ids, "company"),
            "fingerprint": digest[:FINGERPRINT_BYTES],
            "operation": visit.operation.name,
            "surface": _REQUEST_SURFACES[visit.operation.surface],
            "purpose": request.purpose,
            "remember": True,
            "state": status or State.ANSWER_READY,
            "catalog_version": catalog.version,
            "catalog_hash": hash_entries(entries),
            "catalog": [entry.as_wire() for entry in entries],
            "withheld_keys": self._withheld_keys(request.purpose),
            "status_code": visit.status_code,
            "duration_ms": visit.duration_ms,
            "runtime_hint": visit.hint,
            "observation": None,
            "created_at": visit.received_at,
            "expires_at": expires_at,
            "approved_at": None,
            "answered_as": status,
            "answer_fingerprint": None if status is None else digest[: 8 * (1 + len(signals or ()))],
            "receipt": None if signals is None else [_receipt_item(signal) for signal in signals],
        }


def _receipt_item(signal: dict[str, Any]) -> dict[str, Any]:
    """Return a signal as the receipt of its answer lists it."""
    names = ("key", "type", "value", "summary", "provenance", "confidence", "remembered")
    return {
        "signal_id": str(signal["id"]),
        **{name: signal[name] for name in names},
        "allowed_uses": [] if signal["provenance"] == INFERENCE else [signal["purpose"]],
        "expires_at": signal["expires_at"].isoformat(),
    }
