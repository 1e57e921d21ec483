"""The summary of an environment's evidence."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from sqlalchemy import select, text

from app.core import clock
from app.core.database import session
from app.core.errors import NotFound
from app.evidence import rules
from app.evidence.counts import DIMENSIONS
from app.products.models import Environment, Product

# Day counts and what is not in them yet, added up in one statement: one consistent moment.
_COUNTED = f"""
    WITH counted AS (
        SELECT day_on, {DIMENSIONS}, events FROM evidence_days
        WHERE environment_id = :environment_id AND day_on BETWEEN :first_on AND :last_on
        UNION ALL
        SELECT day_on, {DIMENSIONS}, events FROM evidence_changes
        WHERE environment_id = :environment_id AND day_on BETWEEN :first_on AND :last_on
    )
"""

# The name of a list is that of the column by which it is grouped.
_COUNT = text(f"""
    {_COUNTED}
    SELECT CASE 0 WHEN GROUPING(day_on) THEN 'day_on' WHEN GROUPING(actor_provider) THEN 'actor_provider'
               WHEN GROUPING(fetch_class) THEN 'fetch_class' WHEN GROUPING(network_method) THEN 'network_method'
               WHEN GROUPING(referral_provider) THEN 'referral_provider'
               WHEN GROUPING(source_kind) THEN 'source_kind' ELSE 'total' END AS list,
           day_on, {DIMENSIONS}, coalesce(sum(events), 0) AS events,
           coalesce(sum(events) FILTER (WHERE actor_provider <> ''), 0) AS fetches,
           coalesce(sum(events) FILTER (WHERE network_method <> ''), 0) AS attested,
           coalesce(sum(events) FILTER (WHERE referral_provider <> ''), 0) AS referrals
    FROM counted
    GROUP BY GROUPING SETS ((day_on), (actor_provider), (fetch_class), (network_method), (referral_provider),
        (source_kind, source_provider), ())
""")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ShownWindow:
    """The days of a summary, and what limited them."""

    days: int
    requested_days: int
    from_: date
    to: date
    retention_days: int


@dataclass(frozen=True, slots=True)
class Totals:
    """How many events there are, and how many of them are fetches and referrals."""

    events: int
    fetches: int
    referrals: int


@dataclass(frozen=True, slots=True)
class Count:
    """How many events have one value of a dimension."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class SourceCount:
    """How many events came from sources of a kind and provider."""

    kind: str
    provider: str
    count: int


@dataclass(frozen=True, slots=True)
class DayCount:
    """The fetches of a day, how many of them are source-attested, and its referrals."""

    date: date
    fetches: int
    attested: int
    referrals: int


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of a window."""

    product_id: uuid.UUID
    environment_id: uuid.UUID
    window: ShownWindow
    totals: Totals
    by_actor_provider: list[Count]
    by_fetch_class: list[Count]
    by_evidence_tier: list[Count]
    by_referral_provider: list[Count]
    by_source: list[SourceCount]
    by_network_evidence_method: list[Count]
    daily: list[DayCount]


def summarize(workspace_id: uuid.UUID, product_id: uuid.UUID, environment_id: uuid.UUID, days: int) -> Summary:
    """Count the evidence of an environment of this product of this workspace, or raise `NotFound`."""
    retention_days = session().scalar(
        select(Environment.evidence_retention_days)
        .join(Product, Product.id == Environment.product_id)
        .where(Environment.id == environment_id, Product.id == product_id, Product.workspace_id == workspace_id)
    )
    if retention_days is None:
        raise NotFound("There is no such environment of this product.")
    window = rules.window(clock.now(), days, retention_days)
    limits = {"environment_id": environment_id, "first_on": window.first_on, "last_on": window.last_on}
    rows = [dict(row) for row in session().execute(_COUNT, limits).mappings()]
    totals = next(Totals(row["events"], row["fetches"], row["referrals"]) for row in rows if row["list"] == "total")
    methods = _counts(rows, "network_method")
    return Summary(
        product_id=product_id,
        environment_id=environment_id,
        window=ShownWindow(window.days, days, window.first_on, window.last_on, retention_days),
        totals=totals,
        by_actor_provider=_counts(rows, "actor_provider"),
        by_fetch_class=_counts(rows, "fetch_class"),
        by_evidence_tier=_tiers(totals.fetches, sum(count.count for count in methods)),
        by_referral_provider=_counts(rows, "referral_provider"),
        by_source=_sources(rows),
        by_network_evidence_method=methods,
        daily=_daily(rows, window),
    )


def _counts(rows: list[Row], column: str) -> list[Count]:
    return _sort(Count(row[column], row["events"]) for row in rows if row["list"] == column and row[column])


def _sort(counts: Iterable[Count]) -> list[Count]:
    return sorted((count for count in counts if count.count), key=lambda count: (-count.count, count.name))


def _tiers(fetch_count: int, attested_count: int) -> list[Count]:
    """Count the fetches by evidence tier; only a fetch has a network method, and one that has it is attested."""
    return _sort([Count(rules.SOURCE_ATTESTED, attested_count), Count(rules.CLAIMED, fetch_count - attested_count)])


def _sources(rows: list[Row]) -> list[SourceCount]:
    counts = [
        SourceCount(row["source_kind"], row["source_provider"], row["events"])
        for row in rows
        if row["list"] == "source_kind" and row["events"]
    ]
    return sorted(counts, key=lambda count: (-count.count, count.kind, count.provider))


def _daily(rows: list[Row], window: rules.Window) -> list[DayCount]:
    counts = {
        row["day_on"]: DayCount(row["day_on"], row["fetches"], row["attested"], row["referrals"])
        for row in rows
        if row["day_on"]
    }
    days = (window.first_on + timedelta(days=number) for number in range(window.days))
    return [counts.get(day, DayCount(day, 0, 0, 0)) for day in days]


_COUNT_DAYS = text(f"""
    {_COUNTED}
    SELECT day_on AS date, {DIMENSIONS}, sum(events)::bigint AS events FROM counted
    GROUP BY day_on, {DIMENSIONS} HAVING sum(events) <> 0 ORDER BY day_on, {DIMENSIONS}
""")


def list_counts(environment_id: uuid.UUID, first_on: date, last_on: date) -> list[Row]:
    """Return the counts of each of these days by their dimensions; a dimension that does not apply is None."""
    values = {"environment_id": environment_id, "first_on": first_on, "last_on": last_on}
    rows = session().execute(_COUNT_DAYS, values).mappings()
    return [{name: value or None for name, value in row.items()} for row in rows]


_COUNT_FETCHES = text(f"""
    {_COUNTED}
    SELECT fetch_class, actor_provider, sum(events)::bigint AS events,
           coalesce(sum(events) FILTER (WHERE network_method <> ''), 0)::bigint AS attested
    FROM counted WHERE actor_provider <> ''
    GROUP BY fetch_class, actor_provider HAVING sum(events) <> 0
    ORDER BY sum(events) DESC, fetch_class, actor_provider
""")


class FetchCount(NamedTuple):
    """How many fetches agents of a provider made for one purpose, and how many of them are source-attested."""

    fetch_class: str
    provider: str
    fetches: int
    attested: int

    @property
    def claimed(self) -> int:
        """How many are claimed only."""
        return self.fetches - self.attested


def count_fetches(environment_id: uuid.UUID, first_on: date, last_on: date) -> list[FetchCount]:
    """Return the fetches of some days by class and provider, most first."""
    values = {"environment_id": environment_id, "first_on": first_on, "last_on": last_on}
    return [FetchCount(*row) for row in session().execute(_COUNT_FETCHES, values)]


_COUNT_SOURCES = text(f"""
    {_COUNTED}
    SELECT source_kind, source_provider,
           coalesce(sum(events) FILTER (WHERE actor_provider <> ''), 0)::bigint AS fetches,
           coalesce(sum(events) FILTER (WHERE network_method <> ''), 0)::bigint AS attested,
           coalesce(sum(events) FILTER (WHERE referral_provider <> ''), 0)::bigint AS referrals
    FROM counted GROUP BY source_kind, source_provider HAVING sum(events) <> 0
    ORDER BY sum(events) DESC, source_kind, source_provider
""")


class SourceFigures(NamedTuple):
    """What came from the sources of a kind and provider."""

    kind: str
    provider: str
    fetches: int
    attested: int
    referrals: int

    @property
    def claimed(self) -> int:
        """How many fetches are claimed only."""
        return self.fetches - self.attested


def count_sources(environment_id: uuid.UUID, first_on: date, last_on: date) -> list[SourceFigures]:
    """Return what came from each kind and provider of sources in some days, most first."""
    values = {"environment_id": environment_id, "first_on": first_on, "last_on": last_on}
    return [SourceFigures(*row) for row in session().execute(_COUNT_SOURCES, values)]


_COUNT_BEFORE = text("""
    SELECT coalesce(sum(events), 0)::bigint FROM (
        SELECT events FROM evidence_days WHERE environment_id = :environment_id AND day_on < :day_on
        UNION ALL
        SELECT events FROM evidence_changes WHERE environment_id = :environment_id AND day_on < :day_on
    ) counted
""")


def count_before(environment_id: uuid.UUID, day_on: date) -> int:
    """Return how many events were observed before a day."""
    count: int = session().scalars(_COUNT_BEFORE, {"environment_id": environment_id, "day_on": day_on}).one()
    return count
