"""JSON Schemas (2020-12) of marshmallow schemas, which strict validators of every language compile.

So there is one type for each schema, null is an alternative of its own, and every required member is described.
"""

from typing import Any

from marshmallow import fields

from app.core.wire.fields import Choice, Flag, Instant, Integer, Number, Text
from app.core.wire.schemas import camel

Json = dict[str, Any]

_KEYWORDS = (
    "description",
    "minLength",
    "maxLength",
    "pattern",
    "enum",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "format",
)
_TYPES: tuple[tuple[type, Json], ...] = (
    (Text, {"type": "string"}),
    (Choice, {"type": "string"}),
    (Instant, {"type": "string"}),
    (Integer, {"type": "integer"}),
    (Number, {"type": "number"}),
    (Flag, {"type": "boolean"}),
    (fields.Boolean, {"type": "boolean"}),
    (fields.Integer, {"type": "integer"}),
    (fields.Float, {"type": "number"}),
    (fields.AwareDateTime, {"type": "string", "format": "date-time"}),
    (fields.Url, {"type": "string", "format": "uri"}),
    (fields.UUID, {"type": "string", "format": "uuid"}),
    (fields.String, {"type": "string"}),
)
"""The first class that a field is of counts."""


def object_schema(schema: Any, *, is_closed: bool = True) -> Json:
    """Return the JSON Schema of a marshmallow schema; a closed one has no other members."""
    return {
        "type": "object",
        **({"additionalProperties": False} if is_closed else {}),
        "required": [_key(name, field) for name, field in schema.fields.items() if field.required],
        "properties": {_key(name, field): _field(field, is_closed) for name, field in schema.fields.items()},
    }


def _key(name: str, field: Any) -> str:
    return field.data_key or camel(name)


def _field(field: Any, is_closed: bool) -> Json:
    schema = _plain_field(field, is_closed)
    return {"anyOf": [schema, {"type": "null"}]} if field.allow_none else schema


def _plain_field(field: Any, is_closed: bool) -> Json:
    """Return the schema of a field's values other than null."""
    keywords = {keyword: field.metadata[keyword] for keyword in _KEYWORDS if keyword in field.metadata}
    if "enum" in keywords:
        keywords["enum"] = [value for value in keywords["enum"] if value is not None]
    if isinstance(field, fields.List):
        return {"type": "array", **keywords, "items": _field(field.inner, is_closed)}
    if isinstance(field, fields.Nested):
        schema = object_schema(field.schema, is_closed=is_closed)
        return {"type": "array", "items": schema} if field.many else schema
    if isinstance(field, fields.Dict):
        return {"type": "object", "additionalProperties": _field(field.value_field, is_closed)}
    for kind, schema in _TYPES:
        if isinstance(field, kind):
            return {**schema, **keywords}
    raise TypeError(f"{field!r} has no JSON Schema")
