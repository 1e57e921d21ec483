"""Turn the lines of a log into events that hold what matched and was checked, and nothing else of the line."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from agent_feedback.evidence.address_checks import AddressChecks
from agent_feedback.evidence.formats import HEADER_MARKERS, Format, Parser, detect
from agent_feedback.evidence.log_file import Block
from agent_feedback.evidence.matching import Matcher
from agent_feedback.evidence.record import Malformed, Record
from agent_feedback.evidence.shipper import Event, Source
from agent_feedback.timestamps import timestamp

MAX_AHEAD_S = 240.0
"""The service refuses a whole batch for one event five minutes ahead; a minute is for clocks that differ."""


class Labels(NamedTuple):
    """The operator's names for the source; those that are None follow from the format."""

    source_id: str
    kind: str | None = None
    provider: str | None = None


class LogReader(NamedTuple):
    """The parser of one log, and the source of its events."""

    parse: Parser
    source: Source


class Exporter:
    """Turns blocks of lines into events, and counts the lines that it skips."""

    def __init__(
        self, checks: AddressChecks, labels: Labels, format: Format | None = None, keys: Mapping[str, str] | None = None
    ) -> None:
        self._checks, self._labels, self._format, self._operator_keys = checks, labels, format, keys or {}
        self._matcher = Matcher(checks.allowlist, HEADER_MARKERS)
        self.counters: Counter[str] = Counter()

    def make_reader(self, head: bytes) -> LogReader | None:
        """Return the reader of a log with this beginning, or None if its format is not detected."""
        format = self._format or detect(head, self._operator_keys)
        if format is None:
            return None
        kind, provider = self._labels.kind or format.source_kind, self._labels.provider or format.provider
        return LogReader(format.make_parser(head, self._operator_keys), Source(kind, provider, self._labels.source_id))

    def events(self, reader: LogReader, block: Block) -> Iterator[tuple[int, Event]]:
        """Yield the events of a block with the offsets of their lines."""
        has_open_line = bool(block.lines) and not block.lines.endswith(b"\n")
        self.counters["lines"] += block.lines.count(b"\n") + has_open_line + block.skipped_line_count
        self.counters["malformed"] += block.skipped_line_count
        for begin, line in self._matcher.candidates(block.lines):
            try:
                record = reader.parse(line)
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
        if record.observed_at > time.time() + MAX_AHEAD_S:
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
