"""Wire shapes: closed marshmallow schemas in camelCase, and the lists and objects inside them."""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

import marshmallow
import msgspec

from app.core.errors import BadRequest, Problem, Refusal, Unprocessable
from app.core.fields import UNKNOWN_FIELD, Fault, Field, refuse

# A key that a client invented may be anything, a secret too; only a plain name is repeated in a pointer.
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}\Z")


class Shape(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a schema loads into: an immutable record with the schema's own field names."""


class Schema(marshmallow.Schema):
    """A closed shape; `loads_as` names the record it loads into."""

    class Meta:
        """Nothing unknown comes in; said here so that the API description says so too."""

        unknown = marshmallow.RAISE

    loads_as: ClassVar[type[Shape] | None] = None

    error_messages: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "unknown": UNKNOWN_FIELD,
        "type": Fault("type", "This must be an object."),
    }

    def on_bind_field(self, field_name: str, field_obj: marshmallow.fields.Field[Any]) -> None:
        """Name the field on the wire as JSON is used to."""
        field_obj.data_key = camel(field_name)

    @marshmallow.post_load
    def _make_record(self, data: dict[str, Any], **kwargs: Any) -> Any:
        return self.loads_as(**data) if self.loads_as else data

    def accept(self, payload: Any) -> Any:
        """Load a decoded body, or raise `BadRequest` or `Unprocessable` with every problem."""
        try:
            return self.load(payload)
        except marshmallow.ValidationError as error:
            messages = error.normalized_messages()  # type: ignore[no-untyped-call]
            raise _refusal(messages) from None


class Many(Field):
    """A list of objects or plain values, with bounds on its length."""

    is_scalar = False
    takes = "a list"

    def __init__(self, inner: Schema | Field, *, min_length: int = 0, max_length: int, **kwargs: Any) -> None:
        super().__init__(metadata={"minItems": min_length, "maxItems": max_length}, **kwargs)
        self.inner, self.min_length, self.max_length = inner, min_length, max_length

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self.wrong_type()
        if not self.min_length <= len(value) <= self.max_length:
            raise refuse(
                Fault(
                    "length",
                    f"This must have {self.min_length} to {self.max_length} entries.",
                    {"min": self.min_length, "max": self.max_length},
                )
            )
        loaded, errors = [], {}
        for index, entry in enumerate(value):
            try:
                loaded.append(
                    self.inner.load(entry) if isinstance(self.inner, Schema) else self.inner.deserialize(entry)
                )
            except marshmallow.ValidationError as error:
                errors[index] = error.messages
        if errors:
            raise marshmallow.ValidationError(errors)
        return loaded


class One(Field):
    """One nested object."""

    is_scalar = False
    takes = "an object"

    def __init__(self, inner: Schema, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.inner = inner

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return self.inner.load(value)


def camel(name: str) -> str:
    """Return a Python name as JSON writes it."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def _refusal(messages: Any) -> Refusal:
    problems, is_shape = [], False
    for pointer, fault in _faults(messages, ""):
        problems.append(Problem(pointer, fault.code, fault.message, fault.limits))
        is_shape = is_shape or fault.is_shape
    if is_shape:
        return BadRequest(
            "The body has fields or nesting that do not belong there; errors says where.", problems=problems
        )
    return Unprocessable(problems=problems)


def _faults(messages: Any, pointer: str) -> Iterator[tuple[str, Fault]]:
    """Walk marshmallow's tree of messages; a key that is not a plain name is not repeated."""
    if isinstance(messages, Fault):
        yield pointer, messages
    elif isinstance(messages, dict):
        for key, inner in messages.items():
            is_named = (key != "_schema" and _PLAIN_NAME.match(str(key))) or isinstance(key, int)
            yield from _faults(inner, f"{pointer}/{key}" if is_named else pointer)
    elif isinstance(messages, list):
        for inner in messages:
            yield from _faults(inner, pointer)
    else:
        yield pointer, Fault("invalid", "This does not fit.")
