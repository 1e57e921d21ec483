"""Read JSON that others have written."""

import json
from typing import Any


def read_json(text: str | bytes | bytearray) -> Any:
    """Return the value of a JSON text, or raise ValueError."""
    try:
        return json.loads(text, parse_int=_read_integer)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def _read_integer(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:
        # Python converts no more than 4,300 digits; what the number is beside must still be found.
        return digits
