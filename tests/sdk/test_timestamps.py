"""Instants are written in UTC, in the form that the service and agents read."""

import pytest
from agent_feedback.timestamps import timestamp, whole_timestamp


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1715000000.0625, "2024-05-06T12:53:20.062Z"),
        (1715000000.9999, "2024-05-06T12:53:20.999Z"),
        (-0.5, "1969-12-31T23:59:59.500Z"),
    ],
)
def test_an_instant_has_milliseconds(seconds: float, text: str) -> None:
    assert timestamp(seconds) == text


def test_a_whole_second_has_none() -> None:
    assert whole_timestamp(1715000000) == "2024-05-06T12:53:20Z"
