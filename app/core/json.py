"""JSON in and out, the same way everywhere."""

from typing import Any

import orjson

from app.core.errors import MalformedJson

_OPTIONS = orjson.OPT_UTC_Z


def loads(body: bytes) -> Any:
    """Decode a body, or raise `MalformedJson`; of a repeated key the last value counts."""
    try:
        return orjson.loads(body)
    except (orjson.JSONDecodeError, RecursionError) as error:
        raise MalformedJson from error


def dumps(value: Any) -> bytes:
    """Encode; instants are written in UTC with a Z."""
    return orjson.dumps(value, option=_OPTIONS)
