"""What remains under older peppers, and when each can be removed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select, text
from sqlalchemy.dialects.postgresql import insert

from app.core import clock
from app.core.database import session
from app.core.pepper import pepper_ring
from app.core.purposes import Pepper
from app.core.rotation import PepperUse, Retention
from app.products import queries as product_queries
from app.secrets.declarations import PEPPER_USES
from app.secrets.models import ReplacedPepper
from app.secrets.rules import Need, Removal, plan_removal


@dataclass(frozen=True, slots=True)
class PepperReport:
    """A pepper that was replaced, its place in the ring, what needs it, and when it can be removed."""

    position: int
    id: str
    replaced_at: datetime
    needs: list[Need]
    removal: Removal


def record_replacements() -> dict[bytes, datetime]:
    """Record since when the older peppers of the ring are replaced, and return it by their ids.

    That is when this was first called, so it comes after every process has the ring.
    """
    ring, now = pepper_ring(), clock.now()
    session().execute(delete(ReplacedPepper).where(ReplacedPepper.id == ring.newest.id))
    older_ids = [pepper.id for pepper in ring.peppers[1:]]
    if not older_ids:
        return {}
    rows = [{"id": id_, "replaced_at": now} for id_ in older_ids]
    session().execute(insert(ReplacedPepper).values(rows).on_conflict_do_nothing())
    replaced_peppers = session().scalars(select(ReplacedPepper).where(ReplacedPepper.id.in_(older_ids)))
    return {replaced_pepper.id: replaced_pepper.replaced_at for replaced_pepper in replaced_peppers}


def report_peppers() -> list[PepperReport]:
    """Return what remains under each older pepper."""
    ring, now, replaced_at = pepper_ring(), clock.now(), record_replacements()
    reports = []
    for position, pepper in enumerate(ring.peppers[1:], 2):
        # A row from before its pepper was recorded counts as one of the oldest.
        is_oldest = position == len(ring.peppers)
        needs = list(_needs(pepper, replaced_at[pepper.id], now, is_oldest=is_oldest))
        reports.append(PepperReport(position, pepper.id.hex(), replaced_at[pepper.id], needs, plan_removal(needs, now)))
    return reports


def count_unconfigured() -> dict[str, int]:
    """Return how many rows of each use are under a pepper that is not configured."""
    condition = "pepper_id IS NOT NULL AND pepper_id <> ALL(:ids)"
    values = {"ids": [pepper.id for pepper in pepper_ring().peppers]}
    counts = {use.name: _aggregate(use, condition, values)[0] for use in PEPPER_USES if use.rows}
    return {name: count for name, count in counts.items() if count}


def _needs(pepper: Pepper, replaced_at: datetime, now: datetime, *, is_oldest: bool) -> Iterator[Need]:
    condition = "(pepper_id = :id OR :is_oldest AND pepper_id IS NULL)"
    for use in PEPPER_USES:
        longest = longest_use(use)
        ends_at = None if longest is None else replaced_at + longest
        row_count = None
        if use.rows:
            row_count, last_end = _aggregate(use, condition, {"id": pepper.id, "is_oldest": is_oldest})
            ends_at = ends_at or last_end
        if row_count != 0 and (ends_at is None or ends_at > now):
            yield Need(use, row_count, ends_at)


def longest_use(use: PepperUse) -> timedelta | None:
    """Return for how long after its replacement a pepper is needed; None where that has no known end."""
    if use.needed_for is None:
        return None
    feedback_days, evidence_days = product_queries.longest_retention()
    days = {None: 0, Retention.FEEDBACK: feedback_days, Retention.EVIDENCE: evidence_days}[use.retention]
    return use.needed_for + timedelta(days=days)


def _aggregate(use: PepperUse, condition: str, values: dict[str, Any]) -> tuple[int, datetime | None]:
    statement = f"SELECT {use.row_count}, {use.ends_at} FROM (SELECT * FROM {use.rows}) AS x WHERE {condition}"
    parameters = {**values, "now": clock.now(), "newest": pepper_ring().newest.id}
    row_count, ends_at = session().execute(text(statement), parameters).one()
    return row_count, ends_at
