"""The ledger of an environment by day and sender."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from uuid import UUID

from sqlalchemy import text

from app.core.database import session
from app.ledger.rules import Measure

# Day counts and what is not in them yet, added up in one statement: one consistent moment.
_COUNTED = """(
    SELECT day_on, source, sdk, version, measure, name, events FROM ledger_days
    WHERE environment_id = :environment_id AND day_on >= :first_on
    UNION ALL
    SELECT day_on, source, sdk, version, measure, name, events FROM ledger_changes
    WHERE environment_id = :environment_id AND day_on >= :first_on
) AS counted"""
_LIST = text(f"""
    SELECT day_on, source, sdk, version, measure, name, sum(events) AS events FROM {_COUNTED}
    GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(events) <> 0 ORDER BY 1 DESC, 2 DESC, 3, 4, 5, 6
""")
_SUM = text(f"""
    SELECT source, measure, name, sum(events) AS events FROM {_COUNTED}
    GROUP BY 1, 2, 3 HAVING sum(events) <> 0 ORDER BY 1 DESC, 2, 3
""")


@dataclass(slots=True, kw_only=True)
class LedgerCounts:
    """What became of events; no event is counted twice."""

    accepted: int = 0
    duplicate: int = 0
    expired: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    """By the code of the error."""
    lost: dict[str, int] = field(default_factory=dict)
    """By reason."""

    def set(self, measure: str, name: str, events: int) -> None:
        """Set the number of events of a measure, and of a code or reason where it has any."""
        if measure == Measure.REFUSED:
            self.refused[name] = events
        elif measure == Measure.LOST:
            self.lost[name] = events
        else:
            setattr(self, measure, events)


@dataclass(slots=True)
class LedgerRow(LedgerCounts):
    """What became of the events of one day (UTC, by arrival) and sender."""

    day_on: date
    source: str
    sdk: str
    version: str


def list_rows(environment_id: UUID, first_on: date) -> list[LedgerRow]:
    """Return the ledger of an environment from a day on, newest day first.

    Retention and the bound of senders a day limit how many rows there are.
    """
    rows: dict[tuple[object, ...], LedgerRow] = {}
    values: Mapping[str, object] = {"environment_id": environment_id, "first_on": first_on}
    for day_on, source, sdk, version, measure, name, events in session().execute(_LIST, values):
        row = rows.setdefault((day_on, source, sdk, version), LedgerRow(day_on, source, sdk, version))
        row.set(measure, name, int(events))
    return list(rows.values())


def sum_by_source(environment_id: UUID, first_on: date) -> dict[str, LedgerCounts]:
    """Return what became of the events of an environment from a day on, by the kind of batch that they came in."""
    counts: defaultdict[str, LedgerCounts] = defaultdict(LedgerCounts)
    values: Mapping[str, object] = {"environment_id": environment_id, "first_on": first_on}
    for source, measure, name, events in session().execute(_SUM, values):
        counts[source].set(measure, name, int(events))
    return dict(counts)
