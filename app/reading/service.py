"""Read the lists of an environment by pages. The environment is the caller's; no query names one."""

import math
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.core import clock
from app.core.database.pages import COMMIT_DELAY, Criteria, Order, PagedTable, Position
from app.core.errors import NotFound, Problem, Unprocessable
from app.core.wire.fields import EARLIEST, LATEST, to_storable
from app.core.wire.text import has_control_character
from app.interactions.queries import INTERACTIONS, InteractionItem, find_oldest_promotion_at
from app.outcomes.queries import REVIEW_PAGES, ReviewItem
from app.products.queries import kept_since
from app.reading.rules import MAX_CURSOR_LENGTH, BadCursor, read_cursor, write_cursor
from app.reading.schemas import InteractionQuery, ListQuery, OperationQuery, ReportQuery, ReviewQuery, TimeQuery
from app.reports.queries import REPORT_PAGES, ReportItem, find_report
from app.summaries import queries as summaries
from app.summaries.queries import OperationCriteria, OperationItem, OperationPosition
from app.telemetry.queries import find_oldest_batch_at


@dataclass(frozen=True, slots=True)
class ItemPage:
    """A page as it is sent."""

    items: Sequence[Any]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class ReportDetail:
    """A report with its interaction, if a job has inserted that already."""

    report: ReportItem
    interaction: InteractionItem | None


@dataclass(frozen=True, slots=True)
class InteractionDetail:
    """An interaction with its review and report."""

    interaction: InteractionItem
    review: ReviewItem | None
    report: ReportItem | None


class NoSuchReport(NotFound):
    """The environment has no such report."""

    sentence = "There is no report with this id in this environment."


class NoSuchInteraction(NotFound):
    """The environment has no such interaction."""

    sentence = "There is no interaction with this id in this environment."


def list_reviews(environment_id: uuid.UUID, query: ReviewQuery) -> ItemPage:
    """Return a page of the reviews of an environment."""
    return _list_by_time("reviews", REVIEW_PAGES, environment_id, query, settled_until)


def list_reports(environment_id: uuid.UUID, query: ReportQuery) -> ItemPage:
    """Return a page of the reports of an environment."""
    return _list_by_time("reports", REPORT_PAGES, environment_id, query, settled_until)


def list_interactions(environment_id: uuid.UUID, query: InteractionQuery) -> ItemPage:
    """Return a page of the interactions of an environment."""
    return _list_by_time("interactions", INTERACTIONS, environment_id, query, interactions_settled_until)


def list_operations(environment_id: uuid.UUID, query: OperationQuery) -> ItemPage:
    """Return a page of the operations of an environment with their counts."""
    scope = _scope("operations", environment_id, query)
    position = _read(query.cursor, scope, operation_position)
    criteria = OperationCriteria(query.days, query.sort, query.surface)
    rows = summaries.list_operations(environment_id, criteria, query.limit + 1, position)
    items = rows[: query.limit]
    if len(rows) == len(items):
        return ItemPage(items, None)
    return ItemPage(items, write_cursor(scope, operation_place(items[-1])))


def get_report(environment_id: uuid.UUID, report_id: uuid.UUID) -> ReportDetail:
    """Return a report of an environment with its interaction, or raise `NoSuchReport`."""
    since = kept_since(environment_id)
    report = find_report(environment_id, report_id, since)
    if report is None:
        raise NoSuchReport
    return ReportDetail(report, INTERACTIONS.find(environment_id, report.interaction_id, since))


def get_interaction(environment_id: uuid.UUID, interaction_id: uuid.UUID) -> InteractionDetail:
    """Return an interaction of an environment with its review and report, or raise `NoSuchInteraction`."""
    key = (environment_id, interaction_id, kept_since(environment_id))
    interaction = INTERACTIONS.find(*key)
    if interaction is None:
        raise NoSuchInteraction
    return InteractionDetail(interaction, REVIEW_PAGES.find(*key), REPORT_PAGES.find(*key))


def settled_until(_: uuid.UUID) -> datetime:
    """Return the instant before which no further row becomes visible."""
    return clock.now() - COMMIT_DELAY


def interactions_settled_until(environment_id: uuid.UUID) -> datetime:
    """Return the instant before which no further interaction becomes visible.

    Jobs insert interactions with the time of their batch or review, so those that still wait bound it.
    """
    waiting = (find_oldest_batch_at(environment_id), find_oldest_promotion_at(environment_id))
    return min([clock.now(), *(instant for instant in waiting if instant)]) - COMMIT_DELAY


def _list_by_time(
    name: str,
    table: PagedTable[Any],
    environment_id: uuid.UUID,
    query: TimeQuery,
    settled: Callable[[uuid.UUID], datetime],
) -> ItemPage:
    scope = _scope(name, environment_id, query)
    until = query.until or LATEST
    criteria = Criteria(
        tenant_id=environment_id,
        order=query.order,
        since=max(query.since or EARLIEST, kept_since(environment_id)),
        until=until if query.order is Order.NEWEST else min(until, settled(environment_id)),
        filters={filter_name: getattr(query, filter_name) for filter_name in table.filters},
    )
    page = table.list(criteria, query.limit, _read(query.cursor, scope, time_position))
    position = page.next_position
    return ItemPage(page.rows, write_cursor(scope, time_place(position)) if position else None)


def _scope(name: str, environment_id: uuid.UUID, query: ListQuery) -> list[object]:
    """Return what a cursor is bound to: the list, the environment and the filters."""
    names = sorted(set(query.__struct_fields__) - {"limit", "cursor"})
    return [name, environment_id, *(getattr(query, filter_name) for filter_name in names)]


def _read(cursor: str | None, scope: list[object], parse: Callable[[list[str]], Any]) -> Any:
    """Return the position of a cursor, None without one, or raise `Unprocessable`."""
    if cursor is None:
        return None
    try:
        return parse(read_cursor(scope, cursor))
    except (BadCursor, ValueError):
        sentence = "This is no cursor of this list with these filters; begin again without one."
        raise Unprocessable(sentence, problems=[Problem("/cursor", "cursor", sentence)]) from None


def time_place(position: Position) -> list[str]:
    """Return a position as a cursor carries it."""
    return [to_storable(position.at).isoformat(), str(position.id)]


def time_position(place: list[str]) -> Position:
    """Return the position that a cursor carries, or raise `ValueError` for a place that the service would not write."""
    at, id_ = place
    position = Position(datetime.fromisoformat(at), uuid.UUID(id_))
    if position.at.tzinfo is None or time_place(position) != place:
        raise ValueError(place)
    return position


def operation_place(item: OperationItem) -> list[str]:
    """Return the place behind an operation in a list."""
    return [repr(item.sort_value), item.operation]


def operation_position(place: list[str]) -> OperationPosition:
    """Return the position of a place in a list of operations, or raise `ValueError` as `time_position` does."""
    value, operation = place
    position = OperationPosition(float(value), operation)
    if not math.isfinite(position.sort_value) or repr(position.sort_value) != value:
        raise ValueError(value)
    # A cursor can be forged; nothing in it may be what PostgreSQL does not take.
    if has_control_character(operation) or len(operation.encode()) > MAX_CURSOR_LENGTH:
        raise ValueError(operation)
    return position
