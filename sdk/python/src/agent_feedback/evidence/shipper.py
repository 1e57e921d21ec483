"""Collect events into batches, and advance the checkpoint only when the service has accepted them."""

import json
import time
from collections import Counter
from typing import Any, NamedTuple

from agent_feedback.evidence.checkpoint import Checkpoint, LogProgress
from agent_feedback.evidence.delivery import Deliver

SCHEMA_VERSION = 1
BATCH_SIZE = 500
SAVE_EVERY_S = 5.0
"""The interval of saving while no line matches; after a kill, at most this much reading is repeated."""

Event = dict[str, Any]


class Source(NamedTuple):
    """The source of events, as the service shows it."""

    kind: str
    provider: str
    id: str


class Shipper:
    """Collects the events of one source, and how far each log has been read."""

    def __init__(self, deliver: Deliver, checkpoint: Checkpoint) -> None:
        self._deliver, self._checkpoint = deliver, checkpoint
        self.counters: Counter[str] = Counter()
        self._source: Source | None = None
        self._events: list[Event] = []
        self._offsets: dict[str, tuple[LogProgress, int]] = {}
        self._oldest_at = self._saved_at = time.monotonic()

    @property
    def oldest_event_age_s(self) -> float:
        """Return the age of the oldest event in seconds."""
        return time.monotonic() - self._oldest_at if self._events else 0.0

    def add(self, source: Source, log: LogProgress, offset: int, event: Event) -> None:
        """Add the event of the line at an offset; all lines before it have been added or skipped."""
        if self._events and (len(self._events) >= BATCH_SIZE or source != self._source):
            self.record_offset(log, offset)
            self.flush()
        if not self._events:
            self._source, self._oldest_at = source, time.monotonic()
        self._events.append({"eventId": self._checkpoint.event_id(log, offset), **event})

    def record_offset(self, log: LogProgress, offset: int) -> None:
        """Record that all lines before an offset have been added or skipped."""
        self._offsets[log.id] = log, offset

    def flush(self) -> None:
        """Send the collected events, then advance the checkpoint."""
        if self._events:
            # The next run must make the same ids even if this one is killed right after sending.
            self._checkpoint.save_identities()
            self._send()
        self._advance()
        self._save()

    def save_if_idle(self) -> None:
        """Save the checkpoint every few seconds while there is nothing to send."""
        if not self._events and time.monotonic() - self._saved_at > SAVE_EVERY_S:
            self.flush()

    def _send(self) -> None:
        assert self._source
        kind, provider, source_id = self._source
        batch = {
            "schemaVersion": SCHEMA_VERSION,
            "source": {"kind": kind, "provider": provider, "sourceId": source_id},
            "events": self._events,
        }
        receipt = self._deliver(json.dumps(batch, separators=(",", ":")).encode(), len(self._events))
        self.counters["sent"] += len(self._events)
        self.counters.update(receipt._asdict())
        self._events = []

    def _advance(self) -> None:
        for log, offset in self._offsets.values():
            self._checkpoint.advance(log, offset)
        self._offsets.clear()

    def _save(self) -> None:
        self._checkpoint.save()
        self._saved_at = time.monotonic()
