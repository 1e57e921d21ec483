"""The ledger of an environment by day and sender."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from uuid import UUID

from sqlalchemy import text

from app.core.database import session
from app.ledger.rules import Measure

# Day counts and what is not in them yet, added up in one statement: one consistent moment.
_LIST = text("""
    SELECT day_on, source, sdk, version, measure, name, sum(events) AS events
    FROM (
        SELECT day_on, source, sdk, version, measure, name, events FROM ledger_days
        WHERE environment_id = :environment_id AND day_on >= :first_on
        UNION ALL
        SELECT day_on, source, sdk, version, measure, name, events FROM ledger_changes
        WHERE environment_id = :environment_id AND day_on >= :first_on
    ) AS counted
    GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(events) <> 0 ORDER BY 1 DESC, 2 DESC, 3, 4, 5, 6
""")


@dataclass(slots=True)
class LedgerRow:
    """What became of the events of one day (UTC, by arrival) and sender; no event is counted twice."""

    day_on: date
    source: str
    sdk: str
    version: str
    accepted: int = 0
    duplicate: int = 0
    expired: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    """By the code of the error."""
    lost: dict[str, int] = field(default_factory=dict)
    """By reason."""


def list_rows(environment_id: UUID, first_on: date) -> list[LedgerRow]:
    """Return the ledger of an environment from a day on, newest day first.

    Retention and the bound of senders a day limit how many rows there are.
    """
    rows: dict[tuple[object, ...], LedgerRow] = {}
    values: Mapping[str, object] = {"environment_id": environment_id, "first_on": first_on}
    for day_on, source, sdk, version, measure, name, events in session().execute(_LIST, values):
        row = rows.setdefault((day_on, source, sdk, version), LedgerRow(day_on, source, sdk, version))
        if measure == Measure.REFUSED:
            row.refused[name] = int(events)
        elif measure == Measure.LOST:
            row.lost[name] = int(events)
        else:
            setattr(row, measure, int(events))
    return list(rows.values())
