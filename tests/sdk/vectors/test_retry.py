"""The queue reacts to the answers of the service as the vectors say."""

import itertools
import json
from collections.abc import Iterable
from typing import Any

import pytest
from agent_feedback.errors import ServiceUnavailable, ServiceUnreachable
from agent_feedback.http.client import HttpResponse
from agent_feedback.options import read_options
from agent_feedback.telemetry.batch import Batch, QueuedEvent
from agent_feedback.telemetry.losses import LossReport
from agent_feedback.telemetry.queue import TelemetryQueue

from tests.sdk.endpoint import KEY
from tests.sdk.vectors.cases import Case, read_cases

ERRORS = {"unreachable": ServiceUnreachable, "no_answer": ServiceUnavailable}


class ScriptedHttp:
    """Stands for the network: answers as the case says, and keeps what was sent."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        self.answers, self.requests = list(answers), list[list[int]]()
        self.headers: list[dict[str, str]] = []

    def post(self, path: str, body: bytes, bearer: str, timeout_s: float, headers: dict[str, str]) -> HttpResponse:
        self.requests.append([event["number"] for event in json.loads(body)["events"]])
        self.headers.append(headers)
        answer = self.answers.pop(0)
        if "error" in answer:
            raise ERRORS[answer["error"]]("no answer")
        body = answer.get("body", "{}").encode()
        return HttpResponse(answer["status"], body, answer.get("retryAfter"), answer.get("refused"))


@read_cases("retry", "events")
def test_a_batch_is_dealt_with_as_the_vector_says(case: Case) -> None:
    content, http = case["input"], ScriptedHttp(case["input"]["answers"])
    queue = TelemetryQueue(read_options(KEY, "http://127.0.0.1:9", {"max_attempts": content["maxAttempts"]}))
    queue._http = http  # type: ignore[assignment]  # the network of this test
    events = [QueuedEvent(b'{"number":%d}' % number, 0.0, content["failures"]) for number in range(content["events"])]
    batch = queue._events.sending = Batch(events, LossReport())
    delay_s = queue._send(batch)
    waiting = queue._events.waiting
    kept = waiting.events if waiting else list(queue._events.events)
    dropped = {name.removeprefix("dropped_"): count for name, count in queue.counters.items() if count}
    assert {
        "requests": http.requests,
        "sent": dropped.pop("sent", 0),
        "dropped": dropped,
        "kept": len(kept),
        "isRepeatedUnchanged": bool(waiting and waiting.id == http.headers[-1]["Agent-Feedback-Batch"]),
        "minDelayMs": None if delay_s is None else round(delay_s * 1000),
        "unreported": dict(queue.unreported_losses()),
    } == case["expected"]


def numbers(events: Iterable[QueuedEvent]) -> list[int]:
    return [json.loads(event.text)["number"] for event in events]


@read_cases("retry", "steps")
def test_a_queue_is_emptied_as_the_vector_says(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    content, http = case["input"], ScriptedHttp([])
    settings = {"max_attempts": content["maxAttempts"], "max_queue_size": content["maxQueueSize"]}
    queue = TelemetryQueue(read_options(KEY, "http://127.0.0.1:9", settings))
    queue._http = http  # type: ignore[assignment]  # the network of this test
    monkeypatch.setattr(queue, "_wake_thread", lambda: None)
    numbered = itertools.count()
    for step in content["steps"]:
        for _ in range(step.get("put", 0)):
            queue.put({"number": next(numbered)})
        if "answers" in step:
            http.answers = list(step["answers"])
            batch = queue._events.take_batch()
            assert batch
            queue._send(batch)
    ids = [headers["Agent-Feedback-Batch"] for headers in http.headers]
    requests = [
        {"events": events, "lost": headers.get("Agent-Feedback-Lost"), "isRepetition": ids[index] in ids[:index]}
        for index, (events, headers) in enumerate(zip(http.requests, http.headers, strict=True))
    ]
    waiting = [*(queue._events.waiting.events if queue._events.waiting else []), *queue._events.events]
    dropped = {name.removeprefix("dropped_"): count for name, count in queue.counters.items() if "dropped" in name}
    assert {"requests": requests, "dropped": dropped, "waiting": numbers(waiting)} == case["expected"]
