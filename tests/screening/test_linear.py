"""No text makes the scan slow: four times the length takes about four times the time."""

import re
import time
from collections.abc import Callable

import pytest

from app.screening.personal import DETECTORS, Detector
from app.screening.rules import RULES, Rule
from app.screening.scanner import find_private

SHORT, LONG = 25_000, 100_000
"""Four times the length: four times the time if it is linear, sixteen times if it is quadratic."""
UNITS = (
    "a",
    "A1",
    "-",
    "_",
    "=",
    ".",
    "%",
    "@",
    '"',
    "a.",
    "a@",
    "x@a.",
    "1 ",
    "1-",
    "12",
    "eyJ",
    "://a:",
    "://",
    "?key=",
    "sk_",
    "password ",
    "password is ",
    "token was set to ",
    "token for a ",
    "bearer token ",
    "basic ",
    "cookie a",
    "session",
    "x-api-",
    "-----BEGIN ",
    "AKIA",
    "DE89 ",
    "Passwort ist ",
    "pin code is ",
    "phone number ",
    "curl -u ",
    "curl a ",
    "mysql -u ",
    "docker login ",
    "user: a, ",
    "login as ",
    "used a as ",
    "a1_",
    "ab_c1.x-",
    "&amp;",
    "&",
    "\\u0041",
    "\\",
    "%25",
    "а",
    "qz_a1B2",
)


def seconds(work: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    work(text)
    return time.process_time() - start


def grows_like_the_text(work: Callable[[str], object], unit: str) -> bool:
    """Compare two lengths; a slow pair is measured again, since other processes share the machine."""
    long_text = (unit * LONG)[:LONG]
    short = long_text[:SHORT]
    return any(seconds(work, long_text) < 8 * max(seconds(work, short), 0.001) for _ in range(4))


def search_everything(pattern: re.Pattern[str]) -> Callable[[str], object]:
    return lambda text: sum(1 for _ in pattern.finditer(text))


@pytest.mark.parametrize("row", [*RULES, *DETECTORS], ids=lambda row: row.id)
def test_the_time_of_a_pattern_grows_with_the_text(row: Rule | Detector) -> None:
    slow_units = [unit for unit in UNITS if not grows_like_the_text(search_everything(row.pattern), unit)]
    assert slow_units == []


@pytest.mark.parametrize("unit", UNITS)
def test_the_time_of_a_scan_grows_with_the_text(unit: str) -> None:
    assert grows_like_the_text(find_private, unit)
