"""A batch of which the service refuses some events by name: the vectors of `retry`, over the wire."""

from typing import Any

import pytest

from conformance.conftest import Launch
from conformance.processes import Product
from conformance.protocol import PATHS, vectors
from conformance.recorder import CUT, Reply
from conformance.test_queue import Counted, header

PATH = PATHS["telemetry"]
MAX_DELAY_MS = 2000

STATUSES_OF_A_PAUSE = (401,)


def can_be_driven(case: dict[str, Any]) -> bool:
    """Tell whether a case begins with new events, and ends within the time of a test."""
    given = case["input"]
    if "events" not in given or given["failures"] or given["maxAttempts"] != 3:
        return False
    answers = given["answers"]
    if any(answer.get("error") == "unreachable" or answer.get("status") in STATUSES_OF_A_PAUSE for answer in answers):
        return False
    return (case["expected"]["minDelayMs"] or 0) <= MAX_DELAY_MS


CASES = [case for case in vectors("retry") if can_be_driven(case)]


@pytest.fixture
def product(launch: Launch) -> Product:
    return launch([], flushInterval=60_000)


def reply(answer: dict[str, Any]) -> Reply:
    if "error" in answer:
        return CUT
    names = {"retryAfter": "Retry-After", "refused": "Agent-Feedback-Refused"}
    headers = tuple((name, answer[member]) for member, name in names.items() if member in answer)
    return Reply(answer["status"], answer.get("body", "").encode(), headers)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_batch(product: Product, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    counted = Counted(product)
    product.recorder.script(PATH, *(reply(answer) for answer in given["answers"]))
    product.put(given["events"])
    product.flush()
    requests = product.recorder.of(PATH)
    ids = [event["interactionId"] for event in requests[0].events]
    sent = [[ids.index(event["interactionId"]) for event in request.events] for request in requests]
    assert sent[: len(expected["requests"])] == expected["requests"]
    # What was kept is sent by and by, since the service is healthy then.
    difference = counted.difference()
    assert difference["dropped"] == expected["dropped"]
    assert difference["sent"] == expected["sent"] + expected["kept"]
    if expected["kept"]:
        require_repetition(requests[len(expected["requests"]) - 1 :], expected)
    elif not expected["isRepeatedUnchanged"]:
        require_report(product, expected["unreported"])


def require_repetition(requests: list[Any], expected: dict[str, Any]) -> None:
    """Fail unless the request after the last one of the case is late enough, and the same where it has to be."""
    last, following = requests[:2]
    assert following.at - last.at > (expected["minDelayMs"] or 0) / 1000 - 0.05
    if expected["isRepeatedUnchanged"]:
        assert (following.body, header(following, "batch")) == (last.body, header(last, "batch"))


def require_report(product: Product, unreported: dict[str, int]) -> None:
    """Fail unless the next batch tells of these losses."""
    product.put(1)
    product.flush()
    report = header(product.recorder.of(PATH)[-1], "lost")
    losses = dict(part.split("=") for part in report.split(";")) if report else {}
    assert {reason: int(count) for reason, count in losses.items()} == unreported
    product.put(1)
    product.flush()
    assert header(product.recorder.of(PATH)[-1], "lost") is None
