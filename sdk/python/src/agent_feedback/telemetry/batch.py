"""A batch of telemetry: the events of one request, and of its repetitions."""

from typing import NamedTuple

from agent_feedback.interaction_id import format_uuid, time_ordered_bytes
from agent_feedback.telemetry.losses import LossReport


class QueuedEvent(NamedTuple):
    """An event as JSON, when it was put (on the monotonic clock), and how many requests with it have failed."""

    text: bytes
    put_at: float
    failures: int = 0


class Batch:
    """Events that have failed equally often, and the losses that are reported with them.

    A repetition has the same id, events and report, so that the service counts it once.
    """

    def __init__(self, events: list[QueuedEvent], report: LossReport) -> None:
        self.id = format_uuid(time_ordered_bytes(16))
        self.events, self.report = events, report
        self.is_unanswered = False
        """Whether the service may have stored it in spite of every answer so far."""
        self.is_fixed = False
        """Whether it is repeated unchanged even when the queue is full."""

    def body(self) -> bytes:
        """Return the body of the request."""
        return b'{"events":[%b]}' % b",".join(event.text for event in self.events)

    def headers(self) -> dict[str, str]:
        """Return the headers of the request that say what it is a batch of."""
        return self.report.headers(self.id)

    def count_failures(self, failures: int) -> int:
        """Add failures to every event, and return how many each has now."""
        self.events = [QueuedEvent(event.text, event.put_at, event.failures + failures) for event in self.events]
        return self.events[0].failures
