"""The fast way into a body.

marshmallow stays the only definition. From its fields a msgspec decoder is built once, which accepts a strict subset
with equal values; a body that it does not accept goes to marshmallow, which decides and words the error.
"""

from collections.abc import Callable
from typing import Annotated, Any

import marshmallow
import msgspec

from app.core import json
from app.core.errors import BadRequest, MalformedJson, Unprocessable
from app.core.fields import Field
from app.core.schema import Many, One, Schema, camel

PayloadGuard = Callable[[Any], None]
"""Looks through a decoded body and raises if it holds what must not be sent."""


class BodyDecoder:
    """Decodes the bodies of one schema."""

    def __init__(self, schema: Schema, *, invalid_status: int = 422) -> None:
        self._schema, self._invalid_status = schema, invalid_status
        # A schema with rules across its fields has no fast way; its bodies all go to marshmallow.
        self._fast = None if _has_rules_across(schema) else msgspec.json.Decoder(fast_struct(schema))

    def decode(self, body: bytes, guard: PayloadGuard) -> Any:
        """Return what the schema loads from a body, or raise what is wrong with it."""
        if self._fast is None:
            return self._explain(body, guard)
        try:
            return self._fast.decode(body)
        except (msgspec.MsgspecError, RecursionError, ValueError):
            return self._explain(body, guard)

    def _explain(self, body: bytes, guard: PayloadGuard) -> Any:
        payload = json.loads(body)
        if not isinstance(payload, dict):
            raise MalformedJson
        guard(payload)
        try:
            return self._schema.accept(payload)
        except Unprocessable as refusal:
            if self._invalid_status == Unprocessable.status:
                raise
            raise BadRequest(str(refusal), code=refusal.slug, problems=refusal.problems) from None


def _has_rules_across(schema: Schema) -> bool:
    inner = [getattr(field, "inner", None) for field in schema.fields.values()]
    return bool(schema._hooks["validates_schema"]) or any(
        isinstance(one, Schema) and _has_rules_across(one) for one in inner
    )


def fast_struct(schema: Schema) -> type[msgspec.Struct]:
    """Build the struct that accepts a subset of what a schema accepts."""
    if schema.loads_as is None:
        raise TypeError(f"{type(schema).__name__} must say what it loads as")
    return msgspec.defstruct(
        f"Fast{schema.loads_as.__name__}",
        [_member(name, field) for name, field in schema.fields.items()],
        bases=(schema.loads_as,),
        rename={name: camel(name) for name in schema.fields},
        forbid_unknown_fields=True,
        frozen=True,
        kw_only=True,
        omit_defaults=True,
    )


def _member(name: str, field: marshmallow.fields.Field[Any]) -> Any:
    kind = _fast_type(field)
    if field.required:
        return name, kind
    # A null stays for marshmallow to refuse, which is why the default's type is not part of the annotation.
    default = field.load_default() if callable(field.load_default) else field.load_default
    return name, kind, msgspec.field(default_factory=list) if default == [] else default


def _fast_type(field: Any) -> Any:
    if isinstance(field, Many):
        inner = fast_struct(field.inner) if isinstance(field.inner, Schema) else field.inner.fast_type()
        return Annotated[list[inner], msgspec.Meta(min_length=field.min_length, max_length=field.max_length)]  # type: ignore[valid-type]
    if isinstance(field, One):
        return fast_struct(field.inner)
    if isinstance(field, Field):
        return field.fast_type()
    raise TypeError(f"{field!r} is not known to the fast decoder")
