"""marshmallow fields with strict JSON types and structured violations, which the decoder supports.

`fast_type` of each field is the msgspec type that accepts a subset of what the field accepts, with equal values.
"""

import ipaddress
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal

import marshmallow
import msgspec

from app.core.wire.text import has_control_character, is_visible, normalize, python_pattern

UUID_PATTERN = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"

# Text as `normalize` leaves it: single spaces between words, no control characters.
_NORMALIZED_PATTERN = r"^[^\s\x00-\x1f\x7f-\x9f]+(?: [^\s\x00-\x1f\x7f-\x9f]+)*$"
_IP_V4_PATTERN = r"^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}$"
_AWARE_INSTANT = Annotated[datetime, msgspec.Meta(tz=True)]


@dataclass(frozen=True, slots=True)
class Violation:
    """Which rule a value breaks; `is_shape` tells a wrong shape (400) from a wrong value (422)."""

    code: str
    message: str
    limits: dict[str, Any] = field(default_factory=dict)
    is_shape: bool = False


UNKNOWN_FIELD = Violation("unknown_field", "This field is not known here.", is_shape=True)
NESTED_CONTENT = Violation("nested_content", "Nothing may be nested here; send one plain value.", is_shape=True)


def invalid(violation: Violation) -> marshmallow.ValidationError:
    """Return a `ValidationError` that carries a violation."""
    return marshmallow.ValidationError([violation])


def none() -> None:
    """Return the default of an omitted optional field."""


EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
LATEST = datetime(9999, 12, 30, tzinfo=UTC)
"""A day inside of what Python and PostgreSQL can represent, so that any time zone can show it."""


def to_storable(instant: datetime) -> datetime:
    """Return an aware instant in UTC, no earlier than `EARLIEST` and no later than `LATEST`."""
    try:
        return max(EARLIEST, min(LATEST, instant.astimezone(UTC)))
    except OverflowError:
        return LATEST if instant.year > 1 else EARLIEST


class Field(marshmallow.fields.Field[Any]):
    """A field with structured violations. It may be omitted unless `required`, and be null only if `is_nullable`."""

    default_error_messages = {
        "required": [Violation("required", "This field is required.")],
        "null": [Violation("type", "This field must not be null; leave it out instead.")],
    }
    expects: ClassVar[str] = "a value"
    is_scalar: ClassVar[bool] = True

    def __init__(self, *, required: bool = False, is_nullable: bool = False, **kwargs: Any) -> None:
        if not required:
            # A function, so that the API description does not offer null as a default.
            kwargs.setdefault("load_default", none)
        super().__init__(required=required, allow_none=is_nullable, **kwargs)

    def deserialize(self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any) -> Any:
        """Deserialize a value; an object or list where a scalar belongs is a wrong shape."""
        if self.is_scalar and isinstance(value, (dict, list)):
            raise invalid(NESTED_CONTENT)
        return super().deserialize(value, attr, data, **kwargs)

    def wrong_type(self) -> marshmallow.ValidationError:
        """Return the error that names the expected JSON type."""
        return invalid(Violation("type", f"This must be {self.expects}."))

    def fast_type(self) -> Any:
        """Return the msgspec type that accepts a subset of this field."""
        raise NotImplementedError(f"{type(self).__name__} has no msgspec type")


class Text(Field):
    """A string, with its length in code points; `normalized` folds white space first."""

    expects = "a string"

    def __init__(
        self,
        *,
        min_length: int = 1,
        max_length: int,
        pattern: str | None = None,
        normalized: bool = False,
        **kwargs: Any,
    ) -> None:
        limits = {"minLength": min_length, "maxLength": max_length, **({"pattern": pattern} if pattern else {})}
        kwargs["metadata"] = {**limits, **kwargs.get("metadata", {})}
        super().__init__(**kwargs)
        self.min_length, self.max_length, self.pattern, self.normalized = min_length, max_length, pattern, normalized
        self._matches = re.compile(python_pattern(pattern)).search if pattern else None

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise self.wrong_type()
        text = normalize(value) if self.normalized else value
        self._check(text)
        return text

    def _check(self, value: str) -> None:
        if not self.min_length <= len(value) <= self.max_length:
            raise invalid(
                Violation(
                    "length",
                    f"This must have {self.min_length} to {self.max_length} characters.",
                    {"min": self.min_length, "max": self.max_length},
                )
            )
        if self._matches and not self._matches(value):
            raise invalid(Violation("pattern", "This has a form that does not fit.", {"pattern": self.pattern}))
        if has_control_character(value):
            raise invalid(Violation("format", "Control characters do not belong in here."))
        if value and not is_visible(value):
            raise invalid(Violation("format", "This must have a character that can be seen."))

    def fast_type(self) -> Any:
        pattern = self.pattern or (_NORMALIZED_PATTERN if self.normalized else r"^[^\x00-\x1f\x7f-\x9f]*$")
        # Visible by its ASCII characters; other texts are left to the slow path.
        pattern = f"^(?=[^!-~]*[!-~])(?:{python_pattern(pattern)})"
        return Annotated[str, msgspec.Meta(min_length=self.min_length, max_length=self.max_length, pattern=pattern)]


class Identifier(Text):
    """A UUID in its usual form, in either case, kept as it was written."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_length=36, max_length=36, pattern=UUID_PATTERN, metadata={"format": "uuid"}, **kwargs)

    def _check(self, value: str) -> None:
        if not self._matches or not self._matches(value):
            raise invalid(Violation("format", "This must be a UUID.", {"pattern": UUID_PATTERN}))


class Address(Text):
    """An IP address, of either version."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=45, metadata={"description": "An IP address."}, **kwargs)

    def _check(self, value: str) -> None:
        try:
            ipaddress.ip_address(value)
        except ValueError:
            raise invalid(Violation("format", "This must be an IP address.")) from None

    def fast_type(self) -> Any:
        return Annotated[str, msgspec.Meta(pattern=python_pattern(_IP_V4_PATTERN))]


class Choice(Field):
    """One of a fixed list of strings."""

    expects = "a string"

    def __init__(self, allowed: Sequence[str], **kwargs: Any) -> None:
        super().__init__(metadata={"enum": list(allowed), **kwargs.pop("metadata", {})}, **kwargs)
        self.allowed = tuple(allowed)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise self.wrong_type()
        if value not in self.allowed:
            raise invalid(Violation("enum", "This is not one of the allowed values.", {"allowed": list(self.allowed)}))
        return value

    def fast_type(self) -> Any:
        return Literal[self.allowed]


class Number(Field):
    """A finite number within bounds."""

    expects = "a finite number"

    def __init__(self, *, minimum: float | None = None, maximum: float | None = None, **kwargs: Any) -> None:
        self.bounds = {name: value for name, value in (("min", minimum), ("max", maximum)) if value is not None}
        schema_words = {"min": "minimum", "max": "maximum"}
        limits = {schema_words[name]: value for name, value in self.bounds.items()}
        super().__init__(metadata={**limits, **kwargs.pop("metadata", {})}, **kwargs)
        self.minimum, self.maximum = minimum, maximum

    def _number(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.wrong_type()
        try:
            number = float(value)
        except OverflowError:
            raise self.wrong_type() from None
        if not math.isfinite(number):
            raise self.wrong_type()
        return number

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        number = self._number(value)
        if (self.minimum is not None and number < self.minimum) or (self.maximum is not None and number > self.maximum):
            words = " and ".join(f"at {'least' if name == 'min' else 'most'} {n}" for name, n in self.bounds.items())
            raise invalid(Violation("range", f"This must be {words}.", self.bounds))
        return number

    def fast_type(self) -> Any:
        return Annotated[float, msgspec.Meta(ge=self.minimum, le=self.maximum)]


class Integer(Number):
    """A whole number within bounds."""

    expects = "a whole number"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        number = super()._deserialize(value, attr, data, **kwargs)
        if not number.is_integer():
            raise self.wrong_type()
        return int(number)

    def fast_type(self) -> Any:
        return Annotated[int, msgspec.Meta(ge=self.minimum, le=self.maximum)]


class Flag(Field):
    """True or false."""

    expects = "true or false"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise self.wrong_type()
        return value

    def fast_type(self) -> Any:
        return bool


class Instant(Field):
    """An ISO 8601 timestamp with an offset, as a UTC datetime.

    An instant outside of what PostgreSQL and every time zone can represent becomes the nearest one that is inside.
    """

    expects = "an ISO 8601 timestamp with an offset, such as 2026-01-31T12:00:00Z"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(metadata={"format": "date-time", **kwargs.pop("metadata", {})}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        if not isinstance(value, str):
            raise self.wrong_type()
        try:
            return to_storable(msgspec.convert(value, type=_AWARE_INSTANT))
        except msgspec.ValidationError:
            return self._parse_unusual(value)

    def _parse_unusual(self, value: str) -> datetime:
        """Parse the forms of ISO 8601 that RFC 3339 leaves out."""
        try:
            instant = datetime.fromisoformat(value)
        except ValueError:
            instant = None
        if instant is None or instant.tzinfo is None:
            raise invalid(Violation("format", f"This must be {self.expects}."))
        return to_storable(instant)

    def fast_type(self) -> Any:
        return _AWARE_INSTANT
