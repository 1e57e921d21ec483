"""The bounded queue of telemetry events, and its account of every event. It has no lock of its own."""

import time
from collections import Counter, deque

from agent_feedback import protocol_files
from agent_feedback.telemetry.batch import Batch, QueuedEvent
from agent_feedback.telemetry.losses import UnreportedLosses

BATCH_SIZE: int = protocol_files.read("contract.json")["telemetry"]["batchSize"]


class EventQueue:
    """Events in the order in which they go, the batch that is being sent, and one that has failed and goes again."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._losses = UnreportedLosses()
        self.counters: Counter[str] = Counter()
        self.events: deque[QueuedEvent] = deque()
        self.sending: Batch | None = None
        self.waiting: Batch | None = None
        """Goes again before the events."""

    def is_empty(self) -> bool:
        """Tell whether every event was dealt with."""
        return not self.events and not self.sending and not self.waiting

    def append(self, text: bytes) -> str | None:
        """Append an event; return the reason for which the oldest one was dropped, if it was."""
        is_full = self._excess() >= 0
        if is_full:
            self._merge_waiting()
            self.events.popleft()
        self.events.append(QueuedEvent(text, time.monotonic()))
        return "queue_full" if is_full else None

    def age_s(self) -> float:
        """Return for how many seconds the oldest event has waited; 0 without any."""
        return time.monotonic() - self.events[0].put_at if self.events else 0.0

    def take_batch(self) -> Batch | None:
        """Return the batch to be sent now, or None if there are no events."""
        self.sending, self.waiting = self.waiting or self._next_batch(), None
        return self.sending

    def acknowledge(self, batch: Batch) -> None:
        """Count a batch as sent."""
        self.counters["sent"] += len(batch.events)
        self._losses.acknowledge(batch.report)
        self.sending = None

    def keep(self, batch: Batch) -> int:
        """Keep a batch for its next try; return how many events were dropped because there was no space."""
        self.sending, self.waiting = None, batch
        if not batch.is_unanswered or self._excess() > 0:
            self._merge_waiting()
        excess = max(self._excess(), 0)
        for _ in range(excess):
            self.events.popleft()
        self.count_dropped("queue_full", excess)
        return excess

    def split(self, batch: Batch, events: list[QueuedEvent], told_count: int) -> Batch | None:
        """Drop a batch as refused except for some of its events, and return the batch of those.

        The service has counted `told_count` of the dropped events itself.
        """
        self._count_lost(batch, "refused", len(batch.events) - len(events), told_count)
        self.sending = Batch(events, self._losses.take()) if events else None
        return self.sending

    def drop(self, batch: Batch, reason: str) -> None:
        """Drop a batch."""
        self._count_lost(batch, reason, len(batch.events), 0)
        self.sending = None

    def drop_unsent(self, reason: str) -> int:
        """Drop everything that is not being sent, and return the number of events."""
        count = len(self.events)
        self.events.clear()
        self.count_dropped(reason, count)
        if self.waiting:
            count += len(self.waiting.events)
            self._count_lost(self.waiting, reason, len(self.waiting.events), 0)
            self.waiting = None
        return count

    def count_dropped(self, reason: str, count: int) -> None:
        """Count dropped events, of which the service is to be told."""
        if count:
            self.counters[f"dropped_{reason}"] += count
            self._losses.add(reason, count)

    def total_dropped(self) -> int:
        """Return the number of dropped events."""
        return sum(count for name, count in self.counters.items() if name.startswith("dropped_"))

    def unreported_losses(self) -> Counter[str]:
        """Return the dropped events by reason, without those of which the service has confirmed to have been told."""
        batches = [batch for batch in (self.sending, self.waiting) if batch]
        return sum((Counter(batch.report.counts) for batch in batches), self._losses.totals())

    def _excess(self) -> int:
        """Return by how many events the queue is beyond its size, negative where there is space.

        A batch that may have been stored, since it got no answer, is beside the queue: only its exact repetition can
        be told from another batch. So is one that is being sent.
        """
        waiting_count = len(self.waiting.events) if self.waiting and not self.waiting.is_fixed else 0
        return len(self.events) + waiting_count - self._max_size

    def _merge_waiting(self) -> None:
        """Put the events of the waiting batch back into the queue, as its oldest."""
        if self.waiting and not self.waiting.is_fixed:
            self._losses.restore(self.waiting.report)
            self.events.extendleft(reversed(self.waiting.events))
            self.waiting = None

    def _next_batch(self) -> Batch | None:
        """Take a batch from the queue: only events that have failed equally often, so that it ends as a whole."""
        batch_events: list[QueuedEvent] = []
        while self.events and len(batch_events) < BATCH_SIZE:
            if batch_events and self.events[0].failures != batch_events[0].failures:
                break
            batch_events.append(self.events.popleft())
        return Batch(batch_events, self._losses.take()) if batch_events else None

    def _count_lost(self, batch: Batch, reason: str, count: int, told_count: int) -> None:
        """Count dropped events of a batch, and take back its report."""
        self.counters[f"dropped_{reason}"] += count
        if batch.is_unanswered:
            # What the service has counted of it as refused gives way to this.
            counts = Counter(batch.report.counts)
            counts[reason] += count
            self._losses.add_unanswered(batch.id, counts)
        else:
            self._losses.restore(batch.report)
            self._losses.add(reason, count - told_count)
