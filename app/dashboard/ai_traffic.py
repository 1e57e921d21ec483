"""The page of AI traffic: what the company's own logs say of agents and assistants."""

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import NamedTuple

from app.core.settings import current_settings
from app.dashboard.charts import BarChart, DayBar
from app.dashboard.lists import Batch, ItemList, Place, export_urls
from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope
from app.evidence.queries import FetchCount, Summary, count_fetches, count_sources, list_counts, summarize
from app.evidence.rules import CLAIMED, SOURCE_ATTESTED
from app.evidence.schemas import EvidenceCountItemSchema

ai_traffic = PageBlueprint("ai_traffic", has_scope=True)

EXPORTED_DAYS = 10
"""Days of counts that an export reads at a time."""


class TieredCount(NamedTuple):
    """How many fetches have a name, by evidence tier."""

    name: str
    fetches: int
    attested: int

    @property
    def claimed(self) -> int:
        """How many are claimed only."""
        return self.fetches - self.attested


@ai_traffic.page("", "ai_traffic/page.html")
def show_traffic(scope: Scope) -> Page:
    """Show fetches and, apart from them, referrals."""
    summary = _summarize(scope)
    fetches = count_fetches(scope.environment.id, summary.window.from_, summary.window.to)
    allowlist = current_settings().allowlist
    agents, referrers = list(allowlist.agents.values()), list(allowlist.referrers.values())
    return Page(
        {
            "summary": summary,
            "classes": _count_by(fetches, lambda count: count.fetch_class),
            "providers": _count_by(fetches, lambda count: count.provider),
            "sources": count_sources(scope.environment.id, summary.window.from_, summary.window.to),
            "total": _total(fetches),
            "fetch_chart": _fetch_chart(summary),
            "referral_chart": _referral_chart(summary),
            "agents": agents,
            "referrers": referrers,
            "checked_on": min(
                [*(agent.checked_on for agent in agents), *(referrer.checked_on for referrer in referrers)]
            ),
            "export_urls": export_urls(),
        }
    )


@ai_traffic.export()
def export_traffic(scope: Scope) -> ItemList:
    """Export the counts of each day."""
    return _list(scope, _summarize(scope))


def _summarize(scope: Scope) -> Summary:
    return summarize(scope.login.workspace_id, scope.product.id, scope.environment.id, scope.days)


def _list(scope: Scope, summary: Summary) -> ItemList:
    """Return the list of the counts of each day, read by a few days at a time; a place is the day that follows."""

    def read(_: int, place: Place | None) -> Batch:
        first_on = date.fromisoformat(place[0]) if place else summary.window.from_
        last_on = min(first_on + timedelta(days=EXPORTED_DAYS - 1), summary.window.to)
        rows = list_counts(scope.environment.id, first_on, last_on)
        next_on = last_on + timedelta(days=1)
        return Batch(rows, [next_on.isoformat()] if next_on <= summary.window.to else None)

    return ItemList("ai-traffic", EvidenceCountItemSchema, read, (scope.environment.id,))


def _fetch_chart(summary: Summary) -> BarChart:
    bars = [
        DayBar(day.date, {SOURCE_ATTESTED: day.attested, CLAIMED: day.fetches - day.attested}) for day in summary.daily
    ]
    return BarChart("Fetches by day and tier", "fetches", bars)


def _referral_chart(summary: Summary) -> BarChart:
    """Return the referrals of each day, apart from fetches, since they do not add up to anything."""
    bars = [DayBar(day.date, {"referrals": day.referrals}) for day in summary.daily]
    return BarChart("Referrals by day", "referrals", bars)


def _count_by(fetches: Iterable[FetchCount], name_of: Callable[[FetchCount], str]) -> list[TieredCount]:
    """Return the sums by a name, most first."""
    counts: dict[str, TieredCount] = {}
    for count in fetches:
        name = name_of(count)
        before = counts.get(name, TieredCount(name, 0, 0))
        counts[name] = TieredCount(name, before.fetches + count.fetches, before.attested + count.attested)
    return sorted(counts.values(), key=lambda count: (-count.fetches, count.name))


def _total(fetches: Iterable[FetchCount]) -> TieredCount:
    return next(iter(_count_by(fetches, lambda _: "")), TieredCount("", 0, 0))
