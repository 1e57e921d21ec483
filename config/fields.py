"""Fields of the configuration."""

from typing import Any
from urllib.parse import urlsplit

from marshmallow import ValidationError, fields


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
