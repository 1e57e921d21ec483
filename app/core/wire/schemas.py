"""Closed marshmallow schemas in camelCase, and the lists and objects inside them."""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

import marshmallow
import msgspec

from app.core.errors import ApiError, BadRequest, Problem, Unprocessable
from app.core.wire.fields import UNKNOWN_FIELD, Field, Violation, invalid

# A key that a client invented may be anything, a secret too; only a plain name is repeated in a pointer.
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}\Z")


class Payload(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An immutable record that a schema loads into; it has the schema's own field names and defaults."""


class Schema(marshmallow.Schema):
    """A schema that rejects members other than its fields; `loads_into` is the record that it loads into."""

    class Meta:
        """Say so to the API description too."""

        unknown = marshmallow.RAISE

    loads_into: ClassVar[type[Payload] | None] = None
    example: ClassVar[dict[str, Any] | None] = None
    """A body that it describes, for the API description."""

    error_messages: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # marshmallow declares it for instances
        "unknown": UNKNOWN_FIELD,
        "type": Violation("type", "This must be an object."),
    }

    def on_bind_field(self, field_name: str, field_obj: marshmallow.fields.Field[Any]) -> None:
        """Name a field in camelCase on the wire, unless it names itself."""
        if field_obj.data_key is None:
            field_obj.data_key = camel(field_name)

    @marshmallow.post_load
    def _make_payload(self, data: dict[str, Any], **kwargs: Any) -> Any:
        return self.loads_into(**data) if self.loads_into else data

    def accept(self, document: Any) -> Any:
        """Load a parsed body, or raise `BadRequest` or `Unprocessable` with every problem."""
        try:
            return self.load(document)
        except marshmallow.ValidationError as error:
            messages = error.normalized_messages()  # type: ignore[no-untyped-call]  # marshmallow's has no types
            raise _as_api_error(messages) from None


class List(Field, marshmallow.fields.List[Any]):
    """A list with bounds on its length."""

    is_scalar = False
    expects = "a list"

    def __init__(
        self, inner: marshmallow.fields.Field[Any], *, min_length: int = 0, max_length: int, **kwargs: Any
    ) -> None:
        super().__init__(cls_or_instance=inner, metadata={"minItems": min_length, "maxItems": max_length}, **kwargs)
        self.min_length, self.max_length = min_length, max_length

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self.wrong_type()
        if not self.min_length <= len(value) <= self.max_length:
            message = f"This must have {self.min_length} to {self.max_length} entries."
            raise invalid(Violation("length", message, {"min": self.min_length, "max": self.max_length}))
        return super()._deserialize(value, attr, data, **kwargs)


class Nested(Field, marshmallow.fields.Nested):
    """One nested object."""

    is_scalar = False
    expects = "an object"

    def __init__(self, nested: type[marshmallow.Schema] | marshmallow.Schema, **kwargs: Any) -> None:
        super().__init__(nested=nested, **kwargs)


def camel(name: str) -> str:
    """Return a Python name in camelCase."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def _as_api_error(messages: Any) -> ApiError:
    violations = list(_violations(messages, ""))
    problems = [
        Problem(pointer, violation.code, violation.message, violation.limits) for pointer, violation in violations
    ]
    if any(violation.is_shape for _, violation in violations):
        return BadRequest(
            "The body has fields or nesting that do not belong there; errors says where.", problems=problems
        )
    return Unprocessable(problems=problems)


def _violations(messages: Any, pointer: str) -> Iterator[tuple[str, Violation]]:
    """Walk marshmallow's tree of messages; a key that is not a plain name is not repeated."""
    if isinstance(messages, Violation):
        yield pointer, messages
    elif isinstance(messages, dict):
        for key, entry in messages.items():
            is_named = (key != "_schema" and _PLAIN_NAME.match(str(key))) or isinstance(key, int)
            yield from _violations(entry, f"{pointer}/{key}" if is_named else pointer)
    elif isinstance(messages, list):
        for entry in messages:
            yield from _violations(entry, pointer)
    else:
        yield pointer, Violation("invalid", "This value is not valid here.")
