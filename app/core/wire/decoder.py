"""Decode request bodies with msgspec where possible, and with marshmallow otherwise.

marshmallow stays the only definition. From its fields a msgspec decoder is built once, which accepts a strict subset
with equal values; a body that it does not accept goes to marshmallow, which decides and words the error.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

import marshmallow
import msgspec

from app.core.errors import BadRequest, MalformedJson, TooManyMembers, Unprocessable
from app.core.wire.fields import EARLIEST, LATEST, Field, Instant, to_storable
from app.core.wire.schemas import List, Nested, Payload, Schema
from app.core.wire.serialization import loads, reject_duplicate_keys

DocumentCheck = Callable[[Any], None]
"""Looks through a parsed body and raises if it holds what must not be sent."""

Convert = Callable[[Any], Any]


class BodyDecoder:
    """Decodes the bodies of one schema.

    `invalid_status` is that of a wrong value; `has_unique_keys` refuses a body in which a key is repeated, instead of
    taking its last value. `max_members` bounds what marshmallow has to look at.
    """

    def __init__(
        self, schema: Schema, *, invalid_status: int = 422, has_unique_keys: bool = True, max_members: int = 1_000
    ) -> None:
        check_payload(schema)
        self.schema, self._invalid_status, self._has_unique_keys = schema, invalid_status, has_unique_keys
        self._max_members = max_members
        self._keys = _quoted_keys(schema)
        self._to_storable = _instant_conversion(schema)
        # A schema with validators across its fields has no fast path; marshmallow loads all of its bodies.
        self._fast_decoder = None if _has_schema_validators(schema) else msgspec.json.Decoder(fast_struct(schema))

    def decode(self, body: bytes, check: DocumentCheck) -> Any:
        """Return what the schema loads from a body, or raise what is wrong with it."""
        payload = self._decode_fast(body)
        if payload is None:
            payload = self._load(loads(body), check)
        if self._has_unique_keys and self._may_repeat_keys(body):
            reject_duplicate_keys(body)
        return payload

    def _decode_fast(self, body: bytes) -> Any:
        if self._fast_decoder is None:
            return None
        try:
            payload = self._fast_decoder.decode(body)
        except (msgspec.MsgspecError, RecursionError, ValueError):
            return None
        return self._to_storable(payload) if self._to_storable else payload

    def _load(self, document: Any, check: DocumentCheck) -> Any:
        if not isinstance(document, dict):
            raise MalformedJson("The body must be a JSON object; send its members between { and }.")
        require_few_members(document, self._max_members)
        check(document)
        try:
            return self.schema.accept(document)
        except Unprocessable as error:
            if self._invalid_status == Unprocessable.status:
                raise
            raise BadRequest(str(error), code=error.slug, problems=error.problems) from None

    def _may_repeat_keys(self, body: bytes) -> bool:
        """Rule out cheaply that a body repeats a key; a key may be written with escapes."""
        return b"\\" in body or any(body.count(key) > 1 for key in self._keys)


def require_few_members(document: Any, max_members: int) -> None:
    """Raise `BadRequest` if the objects and lists of a document have more members together.

    A body of a few bytes for each member would otherwise cost a hundred times the processor time of a valid one.
    """
    count, stack = 0, [document]
    while stack:
        container = stack.pop()
        count += len(container)
        if count > max_members:
            raise TooManyMembers(max_members)
        values = container.values() if isinstance(container, dict) else container
        stack += [value for value in values if isinstance(value, (dict, list))]


def check_payload(schema: Schema) -> None:
    """Raise `TypeError` unless a schema and the record it loads into have the same members and defaults."""
    if schema.loads_into is None:
        raise TypeError(f"{type(schema).__name__} must say what it loads into")
    members = {member.name: member for member in msgspec.structs.fields(schema.loads_into)}
    if members.keys() != schema.fields.keys():
        names = ", ".join(sorted(members.keys() ^ schema.fields.keys()))
        raise TypeError(f"{type(schema).__name__} and {schema.loads_into.__name__} differ in {names}")
    for name, field in schema.fields.items():
        _check_member(schema.loads_into, name, field, members[name])
        nested_schema = _nested_schema(field)
        if isinstance(nested_schema, Schema):
            check_payload(nested_schema)


def _check_member(payload: type[Payload], name: str, field: Any, member: Any) -> None:
    if field.required != member.required:
        raise TypeError(f"{payload.__name__}.{name} is required in one place and optional in the other")
    if member.required:
        return
    default = member.default_factory() if member.default is msgspec.NODEFAULT else member.default
    if default != _default(field):
        raise TypeError(f"{payload.__name__}.{name} has another default than its schema")


def _default(field: Any) -> Any:
    return field.load_default() if callable(field.load_default) else field.load_default


def _nested_schema(field: Any) -> marshmallow.Schema | None:
    """Return the schema of the objects that a field holds, alone or in a list."""
    if isinstance(field, List):
        field = field.inner
    return field.schema if isinstance(field, Nested) else None


def _has_schema_validators(schema: marshmallow.Schema) -> bool:
    nested_schemas = map(_nested_schema, schema.fields.values())
    return bool(schema._hooks["validates_schema"]) or any(
        inner and _has_schema_validators(inner) for inner in nested_schemas
    )


def _quoted_keys(schema: Any) -> list[bytes]:
    """Return the quoted keys of a schema and of the objects inside it."""
    nested_keys = [
        key for field in schema.fields.values() if (inner := _nested_schema(field)) for key in _quoted_keys(inner)
    ]
    return [f'"{field.data_key}"'.encode() for field in schema.fields.values()] + nested_keys


def fast_struct(schema: Any) -> type[msgspec.Struct]:
    """Build the struct that accepts a subset of what a schema accepts."""
    check_payload(schema)
    assert schema.loads_into is not None  # checked by the line above
    return msgspec.defstruct(
        f"Fast{schema.loads_into.__name__}",
        [_member(name, field) for name, field in schema.fields.items()],
        bases=(schema.loads_into,),
        rename={name: str(field.data_key) for name, field in schema.fields.items()},
        forbid_unknown_fields=True,
        frozen=True,
        kw_only=True,
        omit_defaults=True,
    )


def _member(name: str, field: marshmallow.fields.Field[Any]) -> Any:
    annotation = _fast_type(field)
    if field.allow_none:
        annotation = annotation | None
    if field.required:
        return name, annotation
    # A null stays for marshmallow to refuse, which is why the default's type is not part of the annotation.
    default = _default(field)
    return name, annotation, msgspec.field(default_factory=list) if default == [] else default


def _fast_type(field: Any) -> Any:
    if isinstance(field, List):
        inner = _fast_type(field.inner)
        return Annotated[list[inner], msgspec.Meta(min_length=field.min_length, max_length=field.max_length)]  # type: ignore[valid-type]  # built at run time
    if isinstance(field, Nested):
        return fast_struct(field.schema)
    if isinstance(field, Field):
        return field.fast_type()
    raise TypeError(f"{field!r} is not known to the decoder")


def _instant_conversion(schema: Any) -> Convert | None:
    """Return a function that converts the instants of a struct as `Instant` does, or None where it has none."""
    conversions: dict[str, Convert] = {}
    for name, field in schema.fields.items():
        nested_schema = _nested_schema(field)
        convert = (
            _storable_instant if isinstance(field, Instant) else nested_schema and _instant_conversion(nested_schema)
        )
        if convert:
            conversions[name] = _for_each(convert) if isinstance(field, List) else convert

    def convert_struct(struct: Any) -> Any:
        changes = {}
        for name, convert in conversions.items():
            value = getattr(struct, name)
            if value is not None and (storable_value := convert(value)) is not value:
                changes[name] = storable_value
        return msgspec.structs.replace(struct, **changes) if changes else struct

    return convert_struct if conversions else None


def _storable_instant(instant: datetime) -> datetime:
    # msgspec reads `Z` as this very object.
    return instant if instant.tzinfo is UTC and EARLIEST <= instant <= LATEST else to_storable(instant)


def _for_each(convert: Convert) -> Convert:
    def convert_list(entries: list[Any]) -> list[Any]:
        storable_entries = [convert(entry) for entry in entries]
        is_changed = any(new_entry is not entry for new_entry, entry in zip(storable_entries, entries, strict=True))
        return storable_entries if is_changed else entries

    return convert_list
