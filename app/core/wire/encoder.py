"""Encode response bodies with orjson: the fields of a schema, and nothing else."""

from collections.abc import Callable, Mapping
from operator import attrgetter, itemgetter
from typing import Any

import marshmallow
import orjson
from marshmallow import fields

from app.core.wire.fields import Choice, Flag, Instant, Number, Text
from app.core.wire.serialization import dumps

Dump = Callable[[Any], Any]

# orjson encodes the values of these fields itself.
_SCALARS = (
    Text,
    Choice,
    Flag,
    Instant,
    Number,
    fields.String,
    fields.UUID,
    fields.Integer,
    fields.Float,
    fields.Boolean,
    fields.AwareDateTime,
    fields.Date,
    fields.Dict,
)
_MODULES = ("marshmallow.fields", "app.core.wire.fields")
_DUMP_HOOKS = ("pre_dump", "post_dump")


def body_encoder(schema: marshmallow.Schema | None) -> Callable[[Any], bytes]:
    """Return the function that encodes a result, or raise `TypeError` for a field that it cannot write."""
    if schema is None:
        return lambda _: b""
    dump = object_dump(schema)
    return lambda result: dumps(dump(result))


def list_encoder(schema: marshmallow.Schema) -> Callable[[Any], orjson.Fragment]:
    """Return the function that encodes a list of objects, for a body that has the same list often or more than once."""
    dump_list = _list_dump(object_dump(schema))
    return lambda entries: orjson.Fragment(dumps(dump_list(entries)))


def object_dump(schema: marshmallow.Schema) -> Dump:
    """Return the function that makes the object of a result, or raise `TypeError` for a field that it cannot write."""
    if any(schema._hooks[name] for name in _DUMP_HOOKS):
        raise TypeError(f"{type(schema).__name__} has a dump hook, which would not run")
    members = [(name, field) for name, field in schema.fields.items() if not field.load_only]
    mapping_members = [_member(name, field, itemgetter) for name, field in members]
    object_members = [_member(name, field, attrgetter) for name, field in members]
    optional_sources = {field.attribute or name for name, field in members if not field.required}

    def dump(result: Any) -> Any:
        if result is None:
            return None
        if not isinstance(result, Mapping):
            return {key: inner(get(result)) if inner else get(result) for key, _, get, inner in object_members}
        return {
            key: inner(get(result)) if inner else get(result)
            for key, source, get, inner in mapping_members
            if source not in optional_sources or source in result
        }

    return dump


def _member(name: str, field: Any, getter: Callable[[str], Dump]) -> tuple[str, str, Dump, Dump | None]:
    """Return a member's key, the name of its source, what gets its value, and what dumps it."""
    source = field.attribute or name
    return field.data_key or name, source, getter(source), _field_dump(field)


def _field_dump(field: Any) -> Dump | None:
    """Return what dumps a field's value, or None where the value is written as it is."""
    if isinstance(field, fields.Nested):
        dump = object_dump(field.schema)
        return _list_dump(dump) if field.many else dump
    if isinstance(field, fields.List):
        inner = _field_dump(field.inner)
        return _list_dump(inner) if inner else None
    if isinstance(field, fields.Dict) and field.value_field is not None and _field_dump(field.value_field):
        raise TypeError("an object with values of another schema cannot be written")
    if type(field) is fields.Constant:
        return lambda _: field.constant
    # A subclass from elsewhere may serialize in a way of its own, which would not happen here.
    if not isinstance(field, _SCALARS) or type(field).__module__ not in _MODULES:
        raise TypeError(
            f"{field!r} cannot be written; give it a field of app.core.wire or of marshmallow's own scalars"
        )
    return None


def _list_dump(dump: Dump) -> Dump:
    def dump_list(entries: Any) -> Any:
        # What `list_encoder` has made holds nothing but what its schema says.
        is_encoded = entries is None or isinstance(entries, orjson.Fragment)
        return entries if is_encoded else [dump(entry) for entry in entries]

    return dump_list
