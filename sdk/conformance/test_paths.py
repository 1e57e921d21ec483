"""Which paths carry an envelope: include, exclude, and what is always excluded."""

from typing import Any
from urllib.parse import quote

import pytest

from conformance import envelopes
from conformance.conftest import Launch
from conformance.protocol import CONTRACT, vectors
from conformance.routes import route

MIN_CASES = 5
"""Patterns with fewer cases are left to the unit tests: each set of options is a process."""


def patterns_of(case: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(case["input"]["include"]), tuple(case["input"]["exclude"])


def usable_cases() -> list[dict[str, Any]]:
    cases = [case for case in vectors("paths") if case["input"]["path"].startswith("/")]
    sets = [patterns_of(case) for case in cases]
    return [case for case in cases if sets.count(patterns_of(case)) >= MIN_CASES]


CASES = usable_cases()
ROUTES = [route(path) for path in sorted({case["input"]["path"] for case in CASES})]
MEMBERS = [path.replace("/**", "/a/b") for path in CONTRACT["exclusions"]]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_patterns(launch: Launch, case: dict[str, Any]) -> None:
    include, exclude = patterns_of(case)
    product = launch(ROUTES, include=include, exclude=exclude)
    response = product.get(quote(case["input"]["path"], safe="/:.~"))
    assert response.status == 200
    assert bool(envelopes.find(response)) == case["expected"]


@pytest.mark.parametrize("path", MEMBERS)
def test_always_excluded(launch: Launch, path: str) -> None:
    product = launch([route(member) for member in [*MEMBERS, "/other"]], include=["/**"])
    assert envelopes.find(product.get(path)) is None
    assert envelopes.find(product.get("/other"))


def test_an_encoded_path_is_excluded_too(launch: Launch) -> None:
    product = launch([route("/private/a b"), route("/open/a b")], exclude=["/private/**"])
    assert envelopes.find(product.get("/%70rivate/a%20b")) is None
    assert envelopes.find(product.get("/open/a%20b"))
