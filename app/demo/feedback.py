"""Reviews and reports of visits, in the words of `content/notes.toml` and `content/reports.toml`."""

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

import msgspec

from app.demo.content import FindingContent, ReportContent, notes, reports
from app.demo.period import Ids, Period
from app.demo.traffic import Visit

REVIEW_SHARES = {"success": 0.115, "partial": 0.2, "failure": 0.26, "before": 0.26, "incident": 0.75}
"""How many visits are reviewed, by their moment: what goes wrong is told more often."""
REPORT_SHARES = {"success": 0.009, "partial": 0.09, "failure": 0.1, "before": 0.1, "incident": 0.13}

_WORD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class WrittenReview:
    """A review of a visit."""

    visit: Visit
    id: uuid.UUID
    outcome: str
    note: str
    created_at: datetime


@dataclass(frozen=True)
class WrittenReport:
    """A report about a visit."""

    visit: Visit
    id: uuid.UUID
    content: dict[str, Any]
    created_at: datetime


class Writer:
    """Writes the reviews and reports of one environment."""

    def __init__(self, period: Period, ids: Ids, slug: str, environment: str) -> None:
        self._period, self._ids, self._slug = period, ids, slug
        self._environment = environment

    def reviews(self, visits: Sequence[Visit]) -> Iterator[WrittenReview]:
        """Yield the reviews of some of the visits."""
        random = self._period.random(f"reviews {self._slug} {self._environment}")
        for visit in visits:
            is_written = random.random() < REVIEW_SHARES[visit.moment]
            note, created_at = self._note(random, visit), visit.received_at + _delay(random)
            if is_written and self._period.is_past(created_at):
                yield WrittenReview(visit, self._ids.make("review", visit.id), visit.outcome, note, created_at)

    def reports(self, visits: Sequence[Visit]) -> Iterator[WrittenReport]:
        """Yield the reports about some of the visits."""
        random = self._period.random(f"reports {self._slug} {self._environment}")
        for visit in visits:
            is_written = random.random() < REPORT_SHARES[visit.moment]
            created_at, templates = visit.received_at + _delay(random), self._templates(visit)
            if is_written and templates:
                # Written even if it is too late: what comes after it must not depend on the end of the period.
                content = _report(random, random.choice(templates))
                if self._period.is_past(created_at):
                    yield WrittenReport(visit, self._ids.make("report", visit.id), content, created_at)

    def _note(self, random: Random, visit: Visit) -> str:
        by_moment = notes()[0][self._slug][visit.operation.name]
        return _fill(random, random.choice(by_moment.get(visit.moment) or by_moment[visit.outcome]))

    def _templates(self, visit: Visit) -> list[ReportContent]:
        name = (self._slug, visit.operation.name, visit.moment)
        return [report for report in reports().reports if (report.product, report.operation, report.moment) == name]


def _report(random: Random, template: ReportContent) -> dict[str, Any]:
    findings = [
        msgspec.to_builtins(FindingContent(part.kind, part.topic, _fill(random, part.detail), part.severity))
        for part in template.findings
    ]
    workaround = {"used": True, "detail": _fill(random, template.workaround)} if template.workaround else None
    return {
        "summary": _fill(random, template.summary),
        "impact": template.impact,
        "confidence": template.confidence,
        "findings": findings,
        "workaround": workaround,
    }


def _delay(random: Random) -> timedelta:
    """Return how long after a response an agent writes."""
    return timedelta(seconds=min(900.0, random.lognormvariate(4, 0.8)))


def _fill(random: Random, text: str) -> str:
    """Put a word in the place of each name in braces, the same for the same name."""
    chosen = {name: _choose(random, name) for name in sorted(set(_WORD.findall(text)))}
    return _WORD.sub(lambda match: chosen[match[1]], text)


def _choose(random: Random, name: str) -> str:
    return random.choice(notes()[1][name])
