"""Events in batches, and a checkpoint that only moves when a batch has been taken."""

import json
import time
from collections import Counter
from typing import Any, NamedTuple

from agent_feedback.evidence.checkpoint import Checkpoint, Progress
from agent_feedback.evidence.delivery import Deliver

SCHEMA_VERSION = 1
BATCH = 500
SAVE_EVERY_S = 5.0
"""How much reading of lines that match nothing may have to be done again."""

Event = dict[str, Any]


class Source(NamedTuple):
    """Where events come from, as the service shows it."""

    kind: str
    provider: str
    id: str


class Shipper:
    """Collects events of one source, and remembers how far each log has been read."""

    def __init__(self, deliver: Deliver, checkpoint: Checkpoint) -> None:
        self._deliver, self._checkpoint = deliver, checkpoint
        self.counters: Counter[str] = Counter()
        self._source: Source | None = None
        self._events: list[Event] = []
        self._reached: dict[str, tuple[Progress, int]] = {}
        self._oldest = self._saved_at = time.monotonic()

    @property
    def age(self) -> float:
        """Return for how many seconds the oldest event has waited."""
        return time.monotonic() - self._oldest if self._events else 0.0

    def add(self, source: Source, log: Progress, offset: int, event: Event) -> None:
        """Take an event from the line at an offset; all lines before it have been taken."""
        if self._events and (len(self._events) >= BATCH or source != self._source):
            self.reach(log, offset)
            self.flush()
        if not self._events:
            self._source, self._oldest = source, time.monotonic()
        self._events.append({"eventId": self._checkpoint.event_id(log, offset), **event})

    def reach(self, log: Progress, offset: int) -> None:
        """Note that all lines before an offset have been taken."""
        self._reached[log.id] = log, offset

    def flush(self) -> None:
        """Send what waits, and move the checkpoint once the service has it."""
        if self._events:
            # The ids must be known to the next run even if this one is killed right after sending.
            self._checkpoint.save_names()
            self._send()
        self._advance()
        self._save()

    def rest(self) -> None:
        """Save now and then while there is nothing to send."""
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
        for log, offset in self._reached.values():
            self._checkpoint.advance(log, offset)
        self._reached.clear()

    def _save(self) -> None:
        self._checkpoint.save()
        self._saved_at = time.monotonic()
