"""Telemetry events that were lost, until the service was told of them.

A batch reports losses in its headers, and only a 2xx answer says that they arrived. Without an answer the service may
have stored the batch with its report. What depends on that is reported by the id of the batch, so that the service,
which remembers the ids of batches, counts it only if that batch never arrived.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from agent_feedback import protocol_files

_LEDGER: Mapping[str, Any] = protocol_files.read("contract.json")["ledger"]
_HEADERS: Mapping[str, str] = _LEDGER["headers"]
_MAX_COUNT: int = _LEDGER["maxCount"]
_MAX_UNANSWERED: int = _LEDGER["maxUnanswered"]

Counts = Mapping[str, int]
"""The number of events by the reason of their loss."""


class LossReport(NamedTuple):
    """The losses that one batch reports."""

    counts: Counts = {}
    """Lost for certain."""
    unanswered: Mapping[str, Counts] = {}
    """By the id of a batch that got no answer: what is lost if that batch never arrived."""

    def headers(self, batch_id: str) -> dict[str, str]:
        """Return the headers of a batch that carries this report."""
        headers = {_HEADERS["batch"]: batch_id}
        totals: Counter[str] = Counter(self.counts)
        for counts in self.unanswered.values():
            totals.update(counts)
        if totals:
            headers[_HEADERS["lost"]] = _as_text(totals, ";")
        if self.unanswered:
            headers[_HEADERS["unanswered"]] = ";".join(
                f"{identifier}:{_as_text(counts, ',')}" for identifier, counts in self.unanswered.items()
            )
        return headers


class UnreportedLosses:
    """The losses of a queue that the service was not told of; the lock of the queue protects it."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._unanswered: dict[str, Counts] = {}

    def add(self, reason: str, count: int) -> None:
        """Add events that are lost for certain."""
        if count:
            self._counts[reason] += count

    def add_unanswered(self, batch_id: str, counts: Counts) -> None:
        """Add what is lost if a batch without an answer never arrived."""
        if len(self._unanswered) < _MAX_UNANSWERED:
            self._unanswered[batch_id] = counts
        else:
            self._counts.update(counts)

    def take(self) -> LossReport:
        """Return the report of a new batch; until that was answered, no other batch reports the same counts."""
        report = LossReport(dict(self._counts), dict(self._unanswered))
        self._counts.clear()
        return report

    def restore(self, report: LossReport) -> None:
        """Take back the report of a batch that did not arrive."""
        self._counts.update(report.counts)

    def acknowledge(self, report: LossReport) -> None:
        """Forget what was reported with a batch that has arrived."""
        for batch_id in report.unanswered:
            self._unanswered.pop(batch_id, None)

    def totals(self) -> Counter[str]:
        """Return the number of events by reason, except for those that a batch is reporting."""
        totals = Counter(self._counts)
        for counts in self._unanswered.values():
            totals.update(counts)
        return totals


def _as_text(counts: Counts, separator: str) -> str:
    return separator.join(f"{reason}={min(count, _MAX_COUNT)}" for reason, count in counts.items())
