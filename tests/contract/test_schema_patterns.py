"""Every published pattern means the same in Python, JavaScript, Go and Rust: only shared syntax is used."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.catalog.rules import VALUE_PATTERN
from app.core import protocol

_ESCAPE = r"\\(?:[\^$.*+?()\[\]{}|/\\sdw]|x[0-9a-f]{2})"
_CLASS = rf"\[\^?(?:{_ESCAPE}|[^\\\[\]])+\]"
_QUANTIFIER = r"[*+?]|\{[0-9]+(?:,[0-9]*)?\}"
# Groups are (…) or (?:…). No escape of a character that needs none. No unpaired bracket or brace.
PORTABLE_PATTERN = re.compile(rf"(?:{_ESCAPE}|{_CLASS}|\((?:\?:|(?!\?))|[)|^$.]|{_QUANTIFIER}|[^\\^$.*+?()\[\]{{}}|])*")

LOOK_AHEAD_PATTERN = re.compile(r"(?![0-9]+\Z)[a-z0-9]+(_[a-z0-9]+)*\Z")
"""An equivalent of `VALUE_PATTERN` with look-ahead, which Go and Rust do not support."""


def patterns(value: Any) -> Iterator[str]:
    """Yield every pattern below a schema."""
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from patterns(entry)


def published_patterns() -> list[str]:
    schemas = [json.loads(path.read_text()) for path in (protocol.FOLDER / "schemas").glob("*.json")]
    return sorted({pattern for schema in schemas for pattern in patterns(schema)})


def test_there_are_patterns() -> None:
    assert len(published_patterns()) > 10


@pytest.mark.parametrize("pattern", published_patterns())
def test_a_pattern_of_a_schema_is_portable(pattern: str) -> None:
    re.compile(pattern)
    assert PORTABLE_PATTERN.fullmatch(pattern)


def test_the_patterns_of_the_api_description_are_portable(client: FlaskClient) -> None:
    api_patterns = sorted(set(patterns(client.get("/openapi.json").json)))
    assert api_patterns
    assert [pattern for pattern in api_patterns if not PORTABLE_PATTERN.fullmatch(pattern)] == []


def texts(value: Any) -> Iterator[str]:
    """Yield every text of a protocol file."""
    if isinstance(value, str):
        yield value
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(entry)


def test_the_patterns_of_the_contract_are_portable() -> None:
    contract_patterns = [text for text in texts(protocol.read("contract.json")) if text.startswith("^")]
    assert len(contract_patterns) > 5
    assert [pattern for pattern in contract_patterns if not PORTABLE_PATTERN.fullmatch(pattern)] == []


@pytest.mark.parametrize(
    "pattern", [r"privacy\-safe", r"^(?!a)b$", r"a\Z", r"\Aa", r"\pL", r"(?i)a", "a{", "[[a]", "a]"]
)
def test_a_pattern_of_one_dialect_is_not_portable(pattern: str) -> None:
    assert not PORTABLE_PATTERN.fullmatch(pattern)


@pytest.mark.parametrize(
    "value", ["a", "1a", "1_2", "a_1", "10_20", "a1b", "under_50", "1", "42", "", "_a", "a_", "a__b", "A"]
)
def test_a_value_reads_as_it_did_with_look_ahead(value: str) -> None:
    assert bool(re.fullmatch(VALUE_PATTERN, value)) == bool(LOOK_AHEAD_PATTERN.match(value))
