"""The days that a page shows, and charts of their counts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from app.dashboard.charts import BarChart, DayBar
from app.dashboard.figures import Share
from app.dashboard.scope import Scope
from app.outcomes.rules import OUTCOMES
from app.summaries.days import Counts, DayCounts, DayRange, add_counts


def kept_days(scope: Scope) -> DayRange:
    """Return the days of which the environment keeps anything."""
    return DayRange(scope.last_on - timedelta(days=scope.environment.retention_days - 1), scope.last_on)


def shown_days(scope: Scope) -> DayRange:
    """Return the days that are shown, as far as they are kept."""
    return DayRange(max(scope.first_on, kept_days(scope).first_on), scope.last_on)


def dates_of(days: DayRange) -> list[date]:
    """Return each of the days."""
    return [days.first_on + timedelta(days=number) for number in range((days.last_on - days.first_on).days + 1)]


def counts_of(days: DayRange, rows: Iterable[DayCounts]) -> Counts:
    """Return the sums over some of the days that there are counts of."""
    return add_counts(row.counts for row in rows if days.first_on <= row.day_on <= days.last_on)


def success_share(counts: Counts) -> Share:
    """Return the share of reviews that say success."""
    return Share(counts.success, counts.reviews)


def outcome_chart(days: DayRange, rows: Sequence[DayCounts]) -> BarChart:
    """Return the outcomes of each day."""
    counts = _counts_by_day(rows)
    bars = [DayBar(day_on, {name: getattr(counts[day_on], name) for name in OUTCOMES}) for day_on in dates_of(days)]
    return BarChart("Reviews by day and outcome", "reviews", bars)


def volume_chart(days: DayRange, rows: Sequence[DayCounts]) -> BarChart:
    """Return the interactions of each day."""
    counts = _counts_by_day(rows)
    bars = [DayBar(day_on, {"interactions": counts[day_on].interactions}) for day_on in dates_of(days)]
    return BarChart("Interactions by day", "interactions", bars)


def _counts_by_day(rows: Sequence[DayCounts]) -> defaultdict[date, Counts]:
    by_day = defaultdict(list)
    for row in rows:
        by_day[row.day_on].append(row.counts)
    return defaultdict(Counts, {day_on: add_counts(counts) for day_on, counts in by_day.items()})
