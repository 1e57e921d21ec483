"""What may be the name of an operation, and how it is normalized."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.interactions.rules import MAX_OPERATION_LENGTH, OPERATION_PATTERN, normalize_operation

UUID = "018f1f2e-7b4a-7c12-9c8d-123456789abc"
FORBIDDEN_CHARACTERS = re.compile(r"[\s?#@\x00-\x1f\x7f-\x9f]|%[01][0-9A-F]|%20|%23|%3F|%40", re.IGNORECASE)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("/orders/123", "/orders/:id"),
        (f"/runs/{UUID}", "/runs/:id"),
        (f"/runs/{UUID.upper()}/steps", "/runs/:id/steps"),
        ("/a/1/2", "/a/:id/:id"),
        ("42", ":id"),
        ("/orders/:id", "/orders/:id"),
        ("/v2/orders/a1", "/v2/orders/a1"),
        (f"/x{UUID}", f"/x{UUID}"),
        ("/orders/١٢", "/orders/١٢"),
        ("find_orders", "find_orders"),
        ("/", "/"),
    ],
)
def test_segments_that_name_one_thing_become_id(operation: str, expected: str) -> None:
    assert normalize_operation(operation) == expected
    assert normalize_operation(expected) == expected


def test_a_normalized_operation_is_no_longer_than_any_other() -> None:
    assert len(normalize_operation("/1" * 80)) == MAX_OPERATION_LENGTH


@given(st.text(st.sampled_from("ab/ %0123479AFf?#@\x1f\x85é"), min_size=1, max_size=12))
def test_the_pattern_forbids_characters_in_plain_and_percent_encoded(operation: str) -> None:
    assert bool(re.search(OPERATION_PATTERN, operation)) is not bool(FORBIDDEN_CHARACTERS.search(operation))


def test_the_pattern_takes_linear_time() -> None:
    started_at = time.perf_counter()
    for hostile in ("%" * 160, "%4" * 80, "%4a" * 53, "a%" * 79 + "@"):
        re.search(OPERATION_PATTERN, hostile + "@")
    assert time.perf_counter() - started_at < 0.1
