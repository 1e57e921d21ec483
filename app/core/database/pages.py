"""Pages of the rows of a tenant by time, each of which costs the same wherever it is.

A page begins behind a position, the instant and id of a row, so rows that are inserted meanwhile move no page. It looks
at `SCAN_LIMIT` rows at most: with a filter it may have fewer rows than were asked for and still a next position.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import TextClause, text

from app.core.database.transaction import session
from app.core.wire.fields import EARLIEST, LATEST

Row = TypeVar("Row")

SCAN_LIMIT = 10_000
"""Rows that a page looks at, or a count; where a filter drops all of them, it costs some tens of milliseconds."""

COMMIT_DELAY = timedelta(seconds=10)
"""A row may become visible this long after its instant; what is newer is not settled."""

_MICROSECOND = timedelta(microseconds=1)
"""The precision of instants, here and in PostgreSQL."""

_FIRST_ID, _LAST_ID = uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)


class Order(StrEnum):
    """The order of a list by time."""

    NEWEST = "newest"
    OLDEST = "oldest"


class Position(NamedTuple):
    """The row that a page begins behind."""

    at: datetime
    id: uuid.UUID


@dataclass(frozen=True, slots=True)
class Criteria:
    """Which rows of a tenant to list; `since` is included and `until` is not. A filter that is None is any."""

    tenant_id: uuid.UUID
    order: Order = Order.NEWEST
    since: datetime = EARLIEST
    until: datetime = LATEST
    filters: Mapping[str, Any] = field(default_factory=dict)


class Count(NamedTuple):
    """How many rows match: of all that there are or, where they are not all looked at, of the newest `limit`.

    Above the limit there are more than that, of which nobody knows how many.
    """

    number: int
    is_complete: bool
    limit: int = 0


class Page(NamedTuple, Generic[Row]):
    """The rows of a page, the position of the last one that was looked at, and whether there may be more behind it."""

    rows: list[Row]
    last_position: Position | None
    has_more: bool

    @property
    def next_position(self) -> Position | None:
        """The position that the next page begins behind, if there is one."""
        return self.last_position if self.has_more else None


class PagedTable(Generic[Row]):
    """The rows of a table, read by an index on `tenant` and `instant`.

    `columns` maps the fields of `row`, in their order, to SQL expressions over `f`, the table, and `joins`, each of
    which adds exactly one row. `filters` maps names to the expressions that are compared. `condition` is one that an
    index serves, on the rows that are looked at, and `match` a further one on what they are joined with; both may name
    `:tenant_id`, `:first_at`, `:last_at` and the filters, and the table, which may be a query, the same.
    """

    def __init__(
        self,
        table: str,
        row: Callable[..., Row],
        columns: Mapping[str, str],
        *,
        filters: Mapping[str, str],
        parameters: Sequence[str] = (),
        **sql: str,
    ) -> None:
        """Make the statements; `parameters` are filters that no expression is compared with."""
        self._make_row = row
        self.filters = filters
        self._parameters = (*filters, *parameters)
        expressions = ", ".join(f"{expression} AS {name}" for name, expression in columns.items())
        parts = {"tenant": "environment_id", "instant": "created_at", "id": "interaction_id", "joins": "", **sql}
        self._statements = {
            Order.NEWEST: _statement(table, expressions, filters, parts, direction="DESC", comparison=">"),
            Order.OLDEST: _statement(table, expressions, filters, parts, direction="ASC", comparison="<"),
        }
        self._count = text(_count_statement(table, filters, parts))
        self._count_all = text(f"SELECT count(*), count(*) FROM ({_newest(table, parts, columns='1')}) f")
        self._find = text(f"""
            SELECT {expressions} FROM {table} f {parts["joins"]}
            WHERE f.{parts["tenant"]} = :tenant_id AND f.{parts["id"]} = :id AND f.{parts["instant"]} >= :since LIMIT 1
        """)

    def list(self, criteria: Criteria, limit: int, position: Position | None = None) -> Page[Row]:
        """Return a page of at most `limit` rows, the first one or that behind a position."""
        is_newest = criteria.order is Order.NEWEST
        at, id_ = position or ((LATEST, _LAST_ID) if is_newest else (EARLIEST, _FIRST_ID))
        scan_limit = max(SCAN_LIMIT, limit + 1)
        values = {
            **{name: criteria.filters.get(name) for name in self._parameters},
            "tenant_id": criteria.tenant_id,
            "first_at": criteria.since if is_newest else max(criteria.since, at),
            "last_at": min(criteria.until - _MICROSECOND, at) if is_newest else criteria.until - _MICROSECOND,
            "at": at,
            "id": id_,
            "scan_limit": scan_limit,
            "limit": limit + 1,
        }
        records = session().execute(self._statements[criteria.order], values).all()
        # The last row that was looked at comes along even where a filter drops it: the next page begins behind it.
        has_more = len(records) > limit or (bool(records) and records[-1][0] == scan_limit)
        records = records[:limit]
        rows = [self._make_row(*record[4:]) for record in records if record[1]]
        return Page(rows, Position(records[-1][2], records[-1][3]) if records else None, has_more)

    def count(self, criteria: Criteria) -> Count:
        """Return how many rows match, of those that a page looks at."""
        has_filter = any(value is not None for value in criteria.filters.values())
        values = {
            **{name: criteria.filters.get(name) for name in self._parameters},
            "tenant_id": criteria.tenant_id,
            "first_at": criteria.since,
            "last_at": criteria.until - _MICROSECOND,
            "scan_limit": SCAN_LIMIT if has_filter else SCAN_LIMIT + 1,
        }
        number, rows = session().execute(self._count if has_filter else self._count_all, values).one()
        return Count(number, rows < values["scan_limit"], SCAN_LIMIT)

    def find(self, tenant_id: uuid.UUID, id_: uuid.UUID, since: datetime) -> Row | None:
        """Return the row of an id that is no older than `since`, or None."""
        record = session().execute(self._find, {"tenant_id": tenant_id, "id": id_, "since": since}).one_or_none()
        return self._make_row(*record) if record else None


def _newest(table: str, parts: Mapping[str, str], columns: str = "*") -> str:
    """Return the query of the newest rows of a tenant, read by the index of its pages."""
    instant = f"f.{parts['instant']}"
    return f"""
        SELECT {columns} FROM {table} f
        WHERE f.{parts["tenant"]} = :tenant_id AND {instant} BETWEEN :first_at AND :last_at
          AND {parts.get("condition", "true")}
        ORDER BY {instant} DESC LIMIT :scan_limit
    """


def _count_statement(table: str, filters: Mapping[str, str], parts: Mapping[str, str]) -> str:
    is_match = _is_match(filters, parts)
    return f"SELECT count(*) FILTER (WHERE {is_match}), count(*) FROM ({_newest(table, parts)}) f {parts['joins']}"


def _is_match(filters: Mapping[str, str], parts: Mapping[str, str]) -> str:
    comparisons = [f"(CAST(:{name} AS text) IS NULL OR {expression} = :{name})" for name, expression in filters.items()]
    return " AND ".join([*comparisons, parts.get("match", "true")])


def _statement(
    table: str, expressions: str, filters: Mapping[str, str], parts: Mapping[str, str], **order: str
) -> TextClause:
    direction, comparison = order["direction"], order["comparison"]
    instant, id_ = f"f.{parts['instant']}", f"f.{parts['id']}"
    is_match = _is_match(filters, parts)
    # One range of instants, from which the planner estimates well that the index gives the first rows soonest; a
    # comparison of pairs would make it believe that there are few rows to sort.
    return text(f"""
        SELECT * FROM (
            SELECT row_number() OVER (ORDER BY {instant} {direction}, {id_} {direction}) AS number,
                   {is_match} AS is_match, {instant} AS position_at, {id_} AS position_id, {expressions}
            FROM (
                SELECT * FROM {table} f
                WHERE f.{parts["tenant"]} = :tenant_id AND {instant} BETWEEN :first_at AND :last_at
                  AND NOT ({instant} = :at AND {id_} {comparison}= :id) AND {parts.get("condition", "true")}
                ORDER BY {instant} {direction}, {id_} {direction} LIMIT :scan_limit
            ) f {parts["joins"]}
        ) scanned
        WHERE is_match OR number = :scan_limit ORDER BY position_at {direction}, position_id {direction} LIMIT :limit
    """)
