"""Decode and encode JSON text."""

import json
from typing import Any

import orjson

from app.core.errors import DuplicateKey, MalformedJson

_OPTIONS = orjson.OPT_UTC_Z


def loads(body: bytes) -> Any:
    """Decode a body, or raise `MalformedJson` with what is wrong; of a duplicate key the last value counts."""
    if not body.strip():
        raise MalformedJson("The body is empty; send one JSON object.")
    try:
        return orjson.loads(body)
    except RecursionError:
        raise MalformedJson("The body is nested too deeply.") from None
    except orjson.JSONDecodeError as error:
        raise MalformedJson(_explain(body, error)) from None


def reject_duplicate_keys(body: bytes) -> None:
    """Raise `DuplicateKey` if an object of a well-formed body repeats a key, at any depth."""
    try:
        # Integers of any length are read, as floats: only the keys matter here.
        json.loads(body, object_pairs_hook=_unique_members, parse_int=float)
    except RecursionError:
        # No schema accepts a body that is nested so deeply.
        return


def dumps(value: Any) -> bytes:
    """Encode; instants are written in UTC with a Z."""
    return orjson.dumps(value, option=_OPTIONS)


def _explain(body: bytes, error: orjson.JSONDecodeError) -> str:
    try:
        text = body.decode()
    except UnicodeDecodeError as utf8_error:
        return f"The body is not UTF-8; see byte {utf8_error.start}."
    position = len(text[: error.pos].encode())
    return f"The body is not JSON; see byte {position}."


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise DuplicateKey
    return members
