"""Lists of pages: filters in the address, keyset pages, and exports that stream."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlencode

from flask import Flask, Response, current_app, request
from wtforms import Field, Form, SelectField, StringField
from wtforms.fields.choices import SelectChoice
from wtforms.validators import Length, Optional, ValidationError

from app.core.database import transaction
from app.core.database.pages import Count, Criteria, Page, PagedTable, Position
from app.core.errors import Unprocessable
from app.core.wire.schemas import Schema
from app.core.wire.text import has_control_character
from app.dashboard.labels import choices_of
from app.dashboard.scope import DAYS, ENVIRONMENT, scoped_url
from app.exports.files import Format, LineEncoder
from app.reading.rules import BadCursor, read_cursor, write_cursor
from app.reading.service import time_place, time_position

PAGE_SIZE = 50
EXPORT_BATCH_SIZE = 1_000
"""Rows of an export that are read in one transaction."""

AFTER = "after"
"""The parameter of the place that a page of a list begins behind."""

DONE = "done"
"""The parameter of what was just done, which a page says once."""

FORMATS = {"csv": "text/csv", "ndjson": "application/x-ndjson"}

Place = list[str]
"""Where a page begins, as texts that only its list understands."""


class BadPlace(Unprocessable):
    """The address names no place of this list."""

    sentence = "This address continues another list, or one with other filters. Begin again at its first page."


class Batch(NamedTuple):
    """Some items of a list, and the place behind them; None at the end."""

    items: Sequence[Any]
    next_place: Place | None


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list with its filters: `read` returns a number of items behind a place, which may be forged.

    `read` raises `ValueError` for a place that is none. An export has the fields of `schema` of every item.
    """

    name: str
    schema: type[Schema]
    read: Callable[[int, Place | None], Batch]
    cursor_scope: Sequence[object] = ()
    """What the next address has to repeat: the tenant and the filters."""
    count: Callable[[], Count | None] | None = None
    """Counts the items up to a bound; None where that would take long."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list."""

    rows: Sequence[Any]
    next_url: str | None
    first_url: str | None
    """None on the first page."""
    is_partial: bool = False
    """Whether it has fewer rows than fit, since it has looked at a bounded number of rows, and more may follow."""
    export_urls: dict[str, str] = field(default_factory=dict)
    """By format."""
    count: Count | None = None
    """How many rows there are on all pages."""


def choice_filter(label: str, values: Iterable[str]) -> SelectField:
    """Return a field that filters by one of these values, or by none."""
    return SelectField(label, choices=[SelectChoice("", "any"), *choices_of(values)], default="")


def text_filter(label: str, max_length: int, **options: Any) -> StringField:
    """Return a field that filters by a text."""
    validators = [Optional(), Length(max=max_length), _require_no_control_character]
    return StringField(label, validators, filters=[lambda text: text and text.strip()], **options)


def _require_no_control_character(_: Form, text_field: Field) -> None:
    """Refuse what no stored text has, and NUL, which PostgreSQL takes in no text."""
    if has_control_character(text_field.data):
        raise ValidationError("Control characters do not belong in here.")


class FilterForm(Form):  # type: ignore[misc]  # WTForms has no types
    """The filters of a list, a form that is sent by GET; its fields have the names and values of the wire."""

    def values(self) -> dict[str, Any]:
        """Return the filters that are set, or raise `Unprocessable` naming the fields that are wrong."""
        if not self.validate():
            wrong = ", ".join(f"{name}: {' '.join(map(str, errors))}" for name, errors in self.errors.items())
            raise Unprocessable(f"These filters are not understood. {wrong}")
        return {name: value for name, value in self.data.items() if value not in (None, "")}

    @property
    def is_set(self) -> bool:
        """Whether any filter is set."""
        return self.has(self.data)

    def has(self, names: Iterable[str]) -> bool:
        """Tell whether one of some filters is set."""
        return any(self.data[name] not in (None, "") for name in names)


def list_by_time(
    name: str, table: PagedTable[Any], schema: type[Schema], criteria: Criteria, *, is_counted: bool = False
) -> ItemList:
    """Return the list of the rows of a table that a tenant has."""

    def read(limit: int, position: Position | None) -> Page[Any]:
        return table.list(criteria, limit, position)

    cursor_scope = (criteria.tenant_id, *sorted(criteria.filters.items()))
    return list_by_position(name, schema, read, cursor_scope, (lambda: table.count(criteria)) if is_counted else None)


def list_by_position(
    name: str,
    schema: type[Schema],
    read: Callable[[int, Position | None], Page[Any]],
    cursor_scope: Sequence[object],
    count: Callable[[], Count | None] | None = None,
) -> ItemList:
    """Return the list of what a function reads by pages."""

    def read_batch(limit: int, place: Place | None) -> Batch:
        page = read(limit, time_position(place) if place else None)
        position = page.next_position
        return Batch(page.rows, time_place(position) if position else None)

    return ItemList(name, schema, read_batch, cursor_scope, count)


def whole_list(name: str, schema: type[Schema], rows: Sequence[Any]) -> ItemList:
    """Return the list of all rows there are, which are few."""
    return ItemList(name, schema, lambda limit, place: Batch(rows, None))


def list_page(items: ItemList, *, size: int = PAGE_SIZE, export: str = "export") -> ListPage:
    """Return the page of a list that the address names; `export` is the endpoint of its export, or empty."""
    cursor = request.args.get(AFTER)
    batch = _read(items, size, _place(items, cursor))
    endpoint = request.endpoint or ""
    return ListPage(
        rows=batch.items,
        next_url=_url(endpoint, after=_cursor(items, batch.next_place)) if batch.next_place else None,
        first_url=_url(endpoint) if cursor else None,
        export_urls=export_urls(export) if export else {},
        is_partial=batch.next_place is not None and len(batch.items) < size,
        count=_count(items, batch, is_first=cursor is None),
    )


def _count(items: ItemList, batch: Batch, *, is_first: bool) -> Count | None:
    """Return how many items there are, without a statement where the first page has all of them."""
    if items.count is None:
        return None
    if is_first and batch.next_place is None:
        return Count(len(batch.items), is_complete=True)
    return items.count()


def export_urls(export: str = "export") -> dict[str, str]:
    """Return the addresses of an export of the current page's blueprint with the page's filters, by format."""
    endpoint = f"{(request.endpoint or '').partition('.')[0]}.{export}"
    return {name: _url(endpoint, file_format=name) for name in FORMATS}


def _url(endpoint: str, *, after: str | None = None, **values: Any) -> str:
    """Return the address of a page with the parameters of the current one, of which one is for this page alone."""
    parameters = {name: value for name, value in request.args.items() if name not in (AFTER, DONE, ENVIRONMENT, DAYS)}
    return url_with(scoped_url(endpoint, **(request.view_args or {}), **values), {**parameters, AFTER: after or ""})


def url_with(url: str, parameters: Mapping[str, str]) -> str:
    """Return an address with further parameters, except empty ones.

    They are added as text: a name of somebody's choice could be that of a parameter of `url_for`.
    """
    query = urlencode({name: value for name, value in parameters.items() if value}, safe="/:")
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url


def export_response(items: ItemList, file_format: str) -> Response:
    """Return all items of a list as a download, which is read and sent by batches.

    The first batch is read before the response begins, so that what goes wrong with it is still an error.
    """
    encoder = LineEncoder(Format(file_format), items.schema)
    batch = items.read(EXPORT_BATCH_SIZE, None)
    first_lines = encoder.header + encoder.encode(batch.items)
    # The request has ended while a batch is read, and its context with it.
    app = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy, which Flask types as the app
    return Response(
        itertools.chain([first_lines], _lines(app, items, encoder, batch.next_place)),
        mimetype=FORMATS[file_format],
        headers={"Content-Disposition": f'attachment; filename="{items.name}.{file_format}"'},
    )


def _lines(app: Flask, items: ItemList, encoder: LineEncoder, place: Place | None) -> Iterator[bytes]:
    """Read a list behind a place in transactions of one batch each."""
    while place is not None:
        with app.app_context(), transaction():
            batch = items.read(EXPORT_BATCH_SIZE, place)
            lines = encoder.encode(batch.items)
        yield lines
        place = batch.next_place


def _place(items: ItemList, cursor: str | None) -> Place | None:
    if cursor is None:
        return None
    try:
        return read_cursor(_cursor_scope(items), cursor)
    except BadCursor:
        raise BadPlace from None


def _read(items: ItemList, limit: int, place: Place | None) -> Batch:
    if place is None:
        return items.read(limit, None)
    try:
        return items.read(limit, place)
    except ValueError:
        raise BadPlace from None


def _cursor(items: ItemList, place: Place) -> str:
    return write_cursor(_cursor_scope(items), place)


def _cursor_scope(items: ItemList) -> list[object]:
    return [items.name, *items.cursor_scope]
