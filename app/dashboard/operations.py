"""The pages of operations: how each of them does, and one of them with its reviews."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date

from flask import request
from wtforms import SelectField
from wtforms.fields.choices import SelectChoice

from app.core.database.pages import Criteria
from app.core.errors import NotFound
from app.core.wire.text import has_control_character
from app.dashboard.days import counts_of, dates_of, kept_days, outcome_chart, shown_days, success_share, volume_chart
from app.dashboard.export_schemas import OperationRowSchema
from app.dashboard.figures import Share
from app.dashboard.lists import Batch, FilterForm, ItemList, Place, choice_filter, list_page, text_filter
from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope
from app.interactions.queries import LATENCY_SAMPLE, Latency, list_latencies
from app.interactions.rules import MAX_OPERATION_LENGTH, PENDING_OPERATION, SURFACES, UNKNOWN_SURFACE
from app.outcomes.queries import REVIEW_PAGES, ReviewItem
from app.reading.service import operation_place, operation_position
from app.summaries import queries as summaries
from app.summaries.days import Counts, DayCounts, DayRange, list_days, list_operation_days
from app.summaries.queries import OperationCriteria, OperationItem
from app.summaries.rules import MIN_OBSERVATIONS, Sort
from app.summaries.schemas import OperationItemSchema

operations = PageBlueprint("operations", has_scope=True)

REVIEWS_SHOWN = 10

EXPORTED_OPERATIONS = 200
"""Operations that an export reads at a time, each with all of its days."""

SORT_LABELS = {
    Sort.INTERACTIONS: "most used first",
    Sort.WORST: "worst first",
    Sort.OPERATION: "by name",
}


class NoSuchOperation(NotFound):
    """No interaction that is kept has this operation."""

    sentence = "There is no such operation in this environment."


class OperationFilters(FilterForm):
    """Which operations are listed, and in which order."""

    operation = text_filter("Name begins with", MAX_OPERATION_LENGTH)
    surface = choice_filter("Surface", (*SURFACES, UNKNOWN_SURFACE))
    sort = SelectField(
        "Sort",
        choices=[SelectChoice(str(sort), label) for sort, label in SORT_LABELS.items()],
        default=str(Sort.INTERACTIONS),
    )

    @property
    def is_set(self) -> bool:
        """Whether any filter is set; an order is none."""
        return bool(self.operation.data or self.surface.data)


@dataclass(frozen=True, slots=True)
class OperationRow:
    """An operation as its page lists it."""

    item: OperationItem
    volumes: list[int]
    """The interactions of each day."""
    last_failure_on: date | None
    """The last day with a review that says failure."""
    latency: Latency | None
    """None below ten observations."""

    @property
    def share(self) -> Share:
        """The share of reviews that say success."""
        return Share(self.item.success, self.item.reviews)


@dataclass(frozen=True, slots=True)
class ExportedOperation(OperationItem):
    """An operation as its page lists it, with the figures as numbers."""

    last_failure_on: date | None
    success_low: float | None
    success_high: float | None
    duration_p50_ms: float | None
    duration_p95_ms: float | None

    @classmethod
    def of(cls, row: OperationRow) -> "ExportedOperation":
        """Return what is exported of a row; a figure is None below ten observations."""
        low, high = row.share.interval if row.share.is_shown else (None, None)
        p50, p95 = (row.latency.p50, row.latency.p95) if row.latency else (None, None)
        return cls(
            **asdict(row.item),
            last_failure_on=row.last_failure_on,
            success_low=low,
            success_high=high,
            duration_p50_ms=p50,
            duration_p95_ms=p95,
        )


@operations.page("", "operations/page.html")
def list_operations(scope: Scope) -> Page:
    """List the operations of the environment with their figures."""
    filters = OperationFilters(request.args)
    page = list_page(_list(scope, filters))
    rows = _rows(scope, page.rows, filters.values().get("surface"))
    return Page({"filters_form": filters, "list": page, "rows": rows, "sample": LATENCY_SAMPLE})


@operations.export()
def export_operations(scope: Scope) -> ItemList:
    """Export the list with the figures of its page."""
    filters = OperationFilters(request.args)
    items = _list(scope, filters)

    def read(limit: int, place: Place | None) -> Batch:
        batch = items.read(min(limit, EXPORTED_OPERATIONS), place)
        rows = _rows(scope, batch.items, filters.values().get("surface"))
        return Batch([ExportedOperation.of(row) for row in rows], batch.next_place)

    return replace(items, schema=OperationRowSchema, read=read)


@operations.page("/operation", "operations/operation.html")
def show_operation(scope: Scope) -> Page:
    """Show the operation that the parameter `name` names, with its days and newest reviews."""
    name = request.args.get("name", "")
    days = shown_days(scope)
    rows = [row for row in _days_of_operation(scope, name) if row.day_on >= days.first_on]
    counts = counts_of(days, rows)
    return Page(
        {
            "name": name,
            "is_pending": name == PENDING_OPERATION,
            "counts": counts,
            "share": success_share(counts),
            "failure_share": Share(counts.failure, counts.reviews),
            "surfaces": _surfaces(days, rows),
            "outcome_chart": outcome_chart(days, rows),
            "volume_chart": volume_chart(days, rows),
            "latency": _latencies(scope, [name]).get(name),
            "sample": LATENCY_SAMPLE,
            "failures": _newest_reviews(scope, operation=name, outcome="failure"),
            "reviews": _newest_reviews(scope, operation=name),
        }
    )


def _list(scope: Scope, filters: OperationFilters) -> ItemList:
    values = filters.values()
    criteria = OperationCriteria(
        scope.days, Sort(values["sort"]), values.get("surface"), prefix=values.get("operation", "")
    )

    def read(limit: int, place: Place | None) -> Batch:
        position = operation_position(place) if place else None
        rows = summaries.list_operations(scope.environment.id, criteria, limit + 1, position)
        items = rows[:limit]
        return Batch(items, operation_place(items[-1]) if len(rows) > limit else None)

    return ItemList("operations", OperationItemSchema, read, (scope.environment.id, *criteria))


def _rows(scope: Scope, items: Sequence[OperationItem], surface: str | None) -> list[OperationRow]:
    names = [item.operation for item in items]
    days = shown_days(scope)
    volumes: defaultdict[str, dict[date, int]] = defaultdict(dict)
    last_failures: dict[str, date] = {}
    for operation, day_on, volume, failure in list_operation_days(scope.environment.id, days, names, surface):
        volumes[operation][day_on] = volume
        if failure:
            last_failures[operation] = day_on
    latencies = _latencies(scope, names, surface)
    return [
        OperationRow(
            item,
            [volumes[item.operation].get(day_on, 0) for day_on in dates_of(days)],
            last_failures.get(item.operation),
            latencies.get(item.operation),
        )
        for item in items
    ]


def _latencies(scope: Scope, names: Sequence[str], surface: str | None = None) -> dict[str, Latency]:
    """Return the latencies of operations that were observed often enough."""
    latencies = list_latencies(scope.environment.id, scope.since, names, surface)
    return {name: latency for name, latency in latencies.items() if latency.observations >= MIN_OBSERVATIONS}


def _days_of_operation(scope: Scope, name: str) -> list[DayCounts]:
    """Return the counts of an operation on all days that are kept, or raise `NoSuchOperation`."""
    is_name = 0 < len(name) <= MAX_OPERATION_LENGTH and not has_control_character(name)
    rows = list_days(scope.environment.id, kept_days(scope), name) if is_name else []
    if not rows:
        raise NoSuchOperation
    return rows


def _surfaces(days: DayRange, rows: Sequence[DayCounts]) -> list[tuple[str, Counts, Share]]:
    """Return the counts and the share of each surface."""
    counts = {
        name: counts_of(days, [row for row in rows if row.surface == name])
        for name in sorted({row.surface for row in rows})
    }
    return [(name, sums, success_share(sums)) for name, sums in counts.items()]


def _newest_reviews(scope: Scope, **filters: str) -> list[ReviewItem]:
    """Return the newest reviews among those that a page of a list looks at."""
    criteria = Criteria(scope.environment.id, since=scope.since, filters=filters)
    return REVIEW_PAGES.list(criteria, REVIEWS_SHOWN).rows
