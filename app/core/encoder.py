"""The way out of an answer: a schema's fields say what is written, orjson writes it."""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import marshmallow

from app.core import json
from app.core.schema import Many, One, Schema, camel

Dump = Callable[[Any], Any]


def body_encoder(schema: marshmallow.Schema | None) -> Callable[[Any], bytes]:
    """Return what turns a result into the bytes of its answer."""
    if schema is None:
        return lambda _: b""
    dump = _dump_object(schema)
    return lambda result: json.dumps(dump(result))


def _dump_object(schema: marshmallow.Schema) -> Dump:
    members = [(camel(name), name, attrgetter(name), _dump_field(field)) for name, field in schema.fields.items()]

    def dump(result: Any) -> Any:
        if result is None:
            return None
        is_mapping = isinstance(result, Mapping)
        body = {}
        for key, name, attribute, inner in members:
            if is_mapping and name not in result:
                continue
            value = result[name] if is_mapping else attribute(result)
            body[key] = inner(value) if inner else value
        return body

    return dump


def _dump_field(field: Any) -> Dump | None:
    """Return how a field is written, or None where its value is written as it is."""
    if isinstance(field, One):
        return _dump_object(field.inner)
    if isinstance(field, Many) and isinstance(field.inner, Schema):
        dump_entry = _dump_object(field.inner)
        return lambda entries: [dump_entry(entry) for entry in entries]
    return None
