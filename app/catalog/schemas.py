"""marshmallow schemas of fields."""

import marshmallow
from marshmallow import fields

from app.catalog.rules import (
    CANONICAL_TYPES,
    KEY_PATTERN,
    MAX_FIELDS,
    MAX_KEY_LENGTH,
    MAX_LABEL_LENGTH,
    MAX_OPERATIONS,
    MAX_TYPE_LENGTH,
    MAX_VALUE_LENGTH,
    MAX_VALUES,
    MIN_LABEL_LENGTH,
    TYPE_PATTERN,
    VALUE_PATTERN,
)
from app.core.wire.fields import Flag, Instant, Text
from app.core.wire.schemas import List, Nested, Payload, Schema
from app.interactions.rules import MAX_OPERATION_LENGTH, OPERATION_PATTERN


class CatalogEntrySchema(marshmallow.Schema):
    """A field with its allowed values, as agents see it."""

    key = fields.String(required=True)
    label = fields.String(required=True)
    type = fields.String(required=True, metadata={"enum": list(CANONICAL_TYPES)})
    questionType = fields.String(metadata={"description": "The category as the product wrote it."})
    allowedValues = fields.List(fields.String(), required=True)
    targetedAdvertisingSafe = fields.Boolean(required=True)


class FieldPathSchema(Schema):
    """The key in a field's path."""

    key = Text(max_length=MAX_KEY_LENGTH, pattern=KEY_PATTERN, required=True)


class NewField(Payload, frozen=True):
    """A field as a product defines it."""

    label: str
    type: str
    allowed_values: list[str]
    targeted_advertising_safe: bool = False
    operations: list[str] | None = None
    enabled: bool = True


class NewFieldSchema(Schema):
    """A field of a product; without `operations` it may be asked for in every operation."""

    loads_into = NewField
    example = {
        "label": "Shoe size",
        "type": "constraint",
        "allowedValues": ["size_40", "size_41", "size_42"],
    }

    label = Text(min_length=MIN_LABEL_LENGTH, max_length=MAX_LABEL_LENGTH, normalized=True, required=True)
    type = Text(max_length=MAX_TYPE_LENGTH, pattern=TYPE_PATTERN, required=True)
    allowed_values = List(
        Text(max_length=MAX_VALUE_LENGTH, pattern=VALUE_PATTERN), min_length=1, max_length=MAX_VALUES, required=True
    )
    targeted_advertising_safe = Flag(load_default=False)
    operations = List(
        Text(max_length=MAX_OPERATION_LENGTH, pattern=OPERATION_PATTERN),
        min_length=1,
        max_length=MAX_OPERATIONS,
        is_nullable=True,
    )
    enabled = Flag(load_default=True)


class FieldSchema(Schema):
    """A field as it is stored."""

    key = Text(max_length=MAX_KEY_LENGTH, pattern=KEY_PATTERN, required=True)
    label = fields.String(required=True)
    type = fields.String(required=True)
    allowed_values = fields.List(fields.String(), required=True)
    targeted_advertising_safe = Flag(required=True)
    operations = fields.List(fields.String(), required=True, allow_none=True)
    enabled = Flag(required=True)
    created_at = Instant(required=True)
    updated_at = Instant(required=True)


class FieldsSchema(Schema):
    """A product's own fields by key, and the built-in ones, which apply unless it has one that is enabled."""

    fields_ = List(Nested(FieldSchema), max_length=MAX_FIELDS, required=True)
    legacy_catalog_active = Flag(required=True)
    default_catalog = fields.List(fields.Nested(CatalogEntrySchema), required=True)
