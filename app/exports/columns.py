"""The columns of an item in CSV and Parquet, from the fields of its schema."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import marshmallow
import orjson
from marshmallow import fields

from app.core.wire.fields import Flag, Instant, Integer, Number

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
"""With what a spreadsheet may take a text for a formula, and the mark that says that it is none."""


class Kind(StrEnum):
    """What the values of a column are."""

    TEXT = "text"
    INSTANT = "instant"
    DATE = "date"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    JSON = "json"


class Column(NamedTuple):
    """A member of an item."""

    name: str
    kind: Kind


_KINDS: tuple[tuple[type[marshmallow.fields.Field[Any]], Kind], ...] = (
    (Instant, Kind.INSTANT),
    (fields.Date, Kind.DATE),
    (Integer, Kind.INTEGER),
    (fields.Integer, Kind.INTEGER),
    (Number, Kind.NUMBER),
    (fields.Float, Kind.NUMBER),
    (Flag, Kind.FLAG),
    (fields.List, Kind.JSON),
    (fields.Dict, Kind.JSON),
    (fields.Nested, Kind.JSON),
)


def columns_of(schema: marshmallow.Schema) -> list[Column]:
    """Return the columns of a schema's items; lists and objects are JSON."""
    return [Column(field.data_key or name, _kind(field)) for name, field in schema.fields.items()]


def csv_cell(kind: Kind, value: Any) -> str:
    """Return a cell: an absent value is empty, and an apostrophe stands before a text that could be a formula.

    It also stands before a text that begins with one, so a reader always gets the text back by removing the first.
    """
    if value is None:
        return ""
    if kind is Kind.TEXT:
        text = str(value)
        return f"'{text}" if text.startswith(FORMULA_STARTS) else text
    return orjson.dumps(value, option=orjson.OPT_UTC_Z).decode().strip('"')


def arrow_values(kind: Kind, values: Sequence[Any]) -> list[Any]:
    """Return the values of a column as pyarrow takes them."""
    if kind is Kind.TEXT:
        return [None if value is None else str(value) for value in values]
    if kind is Kind.JSON:
        return [None if value is None else orjson.dumps(value).decode() for value in values]
    return list(values)


def _kind(field: marshmallow.fields.Field[Any]) -> Kind:
    return next((kind for type_, kind in _KINDS if isinstance(field, type_)), Kind.TEXT)
