"""Read the test vectors of the protocol, which every SDK runs."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from app.core import protocol

FOLDER = protocol.FOLDER / "vectors"

Case = dict[str, Any]


def read_cases(subject: str, *members: str, where: Callable[[Case], bool] = lambda case: True) -> Any:
    """Return the decorator that runs a test for each case of a subject, or for those whose input has these members."""
    cases = [case for case in load(subject)["cases"] if set(members) <= case["input"].keys() and where(case)]
    assert cases, f"no case of {subject} has {', '.join(members)}"
    return pytest.mark.parametrize("case", cases, ids=lambda case: case["name"].replace(" ", "-"))


def load(subject: str) -> dict[str, Any]:
    """Return the content of a vector file."""
    content: dict[str, Any] = json.loads((FOLDER / f"{subject}.json").read_text())
    return content


def body_of(case: Case) -> bytes:
    """Return the body of a case: text, or base64 where it is no text."""
    content = case["input"]
    return content["body"].encode() if "body" in content else base64.b64decode(content["bodyBase64"])


def allowed_results(case: Case) -> list[Any]:
    """Return every result that a case allows."""
    return [case["expected"], *case.get("alsoAllowed", [])]
