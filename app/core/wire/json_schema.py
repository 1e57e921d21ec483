"""JSON Schemas (2020-12) of marshmallow schemas."""

from typing import Any

from app.core.wire.fields import Choice, Flag, Instant, Integer, Number, Text
from app.core.wire.schemas import List, Nested, camel

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
_TYPES: tuple[tuple[type, str], ...] = (
    (Text, "string"),
    (Choice, "string"),
    (Instant, "string"),
    (Integer, "integer"),
    (Number, "number"),
    (Flag, "boolean"),
)


def object_schema(schema: Any) -> Json:
    """Return the JSON Schema of a marshmallow schema, as a closed object."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [camel(name) for name, field in schema.fields.items() if field.required],
        "properties": {camel(name): _field(field) for name, field in schema.fields.items()},
    }


def _field(field: Any) -> Json:
    keywords = {keyword: field.metadata[keyword] for keyword in _KEYWORDS if keyword in field.metadata}
    if isinstance(field, List):
        kind = ["array", "null"] if field.allow_none else "array"
        return {"type": kind, **keywords, "items": _field(field.inner)}
    if isinstance(field, Nested):
        return object_schema(field.schema)
    kind = next(name for kind, name in _TYPES if isinstance(field, kind))
    return {"type": [kind, "null"] if field.allow_none else kind, **keywords}
