"""From the lines of a log to events: what matches, what is checked, and nothing else of it."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from agent_feedback.evidence.checks import Checks
from agent_feedback.evidence.formats import MARKS, Format, Parser, detect
from agent_feedback.evidence.matching import Matcher
from agent_feedback.evidence.reading import Block
from agent_feedback.evidence.record import Malformed, Record
from agent_feedback.evidence.shipping import Event, Source
from agent_feedback.telemetry import timestamp

FURTHEST_AHEAD_S = 240.0
"""The service refuses a whole batch for one event five minutes ahead; a minute is for clocks that differ."""


class Labels(NamedTuple):
    """How the operator names the source; what is None follows from the format."""

    source_id: str
    kind: str | None = None
    provider: str | None = None


class Reading(NamedTuple):
    """How one log is read."""

    parse: Parser
    source: Source


class Exporter:
    """Turns blocks of lines into events, and counts what it leaves."""

    def __init__(
        self, checks: Checks, labels: Labels, format: Format | None = None, keys: Mapping[str, str] | None = None
    ) -> None:
        self._checks, self._labels, self._format, self._keys = checks, labels, format, keys or {}
        self._matcher = Matcher(checks.allowlist, MARKS)
        self.counters: Counter[str] = Counter()

    def reading(self, head: bytes) -> Reading | None:
        """Return how to read a log that begins so, or None if its format cannot be told."""
        format = self._format or detect(head, self._keys)
        if format is None:
            return None
        kind, provider = self._labels.kind or format.source_kind, self._labels.provider or format.provider
        return Reading(format.open(head, self._keys), Source(kind, provider, self._labels.source_id))

    def events(self, reading: Reading, block: Block) -> Iterator[tuple[int, Event]]:
        """Yield the events of a block with the offsets of their lines."""
        has_open_end = bool(block.lines) and not block.lines.endswith(b"\n")
        self.counters["lines"] += block.lines.count(b"\n") + has_open_end + block.too_long
        self.counters["malformed"] += block.too_long
        for begin, line in self._matcher.candidates(block.lines):
            try:
                record = reading.parse(line)
            except Malformed:
                self.counters["malformed"] += 1
                continue
            event = self._event(record) if record else None
            if event:
                self.counters["events"] += 1
                yield block.start + begin, event

    def _event(self, record: Record) -> Event | None:
        match = self._matcher.match(record)
        if match is None:
            return None
        if record.observed_at > time.time() + FURTHEST_AHEAD_S:
            self.counters["ahead"] += 1
            return None
        event: Event = {
            "observedAt": timestamp(record.observed_at),
            "method": record.method,
            "responseStatus": record.status,
        }
        if match.token:
            event["agentToken"] = match.token
            method = self._checks.method(record, match.token)
            if method:
                event["networkEvidence"] = {"method": method}
        if match.host:
            event["referrerHost"] = match.host
        return event
