"""Fields of the configuration."""

import re
from typing import Any
from urllib.parse import urlsplit

from marshmallow import ValidationError, fields, validate

IS_POSTGRES = validate.Regexp(r"^postgres(ql)?(\+psycopg2)?://", error="must begin with postgresql://")
IS_REDIS = validate.Regexp(r"^(rediss?|redis\+socket)://", error="must begin with redis:// or rediss://")
IS_BROKER = validate.Regexp(
    r"^(amqps?|rediss?|redis\+socket)://", error="must begin with amqp://, amqps://, redis:// or rediss://"
)

_MAIL_ADDRESS = re.compile(r"mailto:[!-~]{1,64}@[A-Za-z0-9.-]{1,253}\Z")

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


class LogLevel(fields.String):
    """The name of a log level, in capital or small letters."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(validate=validate.OneOf(LOG_LEVELS), **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return super()._deserialize(value, attr, data, **kwargs).upper()


class WebUrl(fields.String):
    """A URL with a host. Marshmallow's own field compiles a pattern for a tenth of a second at every start."""

    def __init__(self, *, schemes: tuple[str, ...], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._schemes = schemes

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            url = urlsplit(text)
            is_valid = bool(url.hostname) and url.scheme in self._schemes and url.port != 0
        except ValueError:
            is_valid = False
        if not is_valid or not text.isascii() or not text.isprintable() or " " in text:
            raise ValidationError(f"must be a URL that begins with {' or '.join(f'{s}://' for s in self._schemes)}")
        return text


class Contact(WebUrl):
    """A URL at which somebody can be reached: `mailto:` or `https:`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(schemes=("https",), **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, str) and _MAIL_ADDRESS.match(value):
            return value
        try:
            return super()._deserialize(value, attr, data, **kwargs)
        except ValidationError:
            raise ValidationError("must be a mailto: address or an https:// URL") from None
