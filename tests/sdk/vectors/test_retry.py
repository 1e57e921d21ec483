"""The queue reacts to the answers of the service as the vectors say."""

import json
from typing import Any

from agent_feedback.batch import Batch, QueuedEvent
from agent_feedback.errors import ServiceUnavailable, ServiceUnreachable
from agent_feedback.http import HttpResponse
from agent_feedback.losses import LossReport
from agent_feedback.options import read_options
from agent_feedback.telemetry import TelemetryQueue

from tests.sdk.endpoint import KEY
from tests.sdk.vectors.cases import Case, read_cases

ERRORS = {"unreachable": ServiceUnreachable, "no_answer": ServiceUnavailable}


class ScriptedHttp:
    """Stands for the network: answers as the case says, and keeps what was sent."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        self._answers, self.requests = list(answers), list[list[int]]()
        self.ids: list[str] = []

    def post(self, path: str, body: bytes, bearer: str, timeout_s: float, headers: dict[str, str]) -> HttpResponse:
        self.requests.append([event["number"] for event in json.loads(body)["events"]])
        self.ids.append(headers["Agent-Feedback-Batch"])
        answer = self._answers.pop(0)
        if "error" in answer:
            raise ERRORS[answer["error"]]("no answer")
        body = answer.get("body", "{}").encode()
        return HttpResponse(answer["status"], body, answer.get("retryAfter"), answer.get("refused"))


@read_cases("retry")
def test_a_batch_is_dealt_with_as_the_vector_says(case: Case) -> None:
    content, http = case["input"], ScriptedHttp(case["input"]["answers"])
    queue = TelemetryQueue(read_options(KEY, "http://127.0.0.1:9", {"max_attempts": content["maxAttempts"]}))
    queue._http = http  # type: ignore[assignment]  # the network of this test
    events = [QueuedEvent(b'{"number":%d}' % number, content["failures"]) for number in range(content["events"])]
    batch = queue._events.sending = Batch(events, LossReport())
    delay_s = queue._send(batch)
    kept = queue._events.waiting.events if queue._events.waiting else list(queue._events.events)
    dropped = {name.removeprefix("dropped_"): count for name, count in queue.counters.items() if count}
    assert {
        "requests": http.requests,
        "sent": dropped.pop("sent", 0),
        "dropped": dropped,
        "kept": len(kept),
        "isRepeatedUnchanged": bool(queue._events.waiting and queue._events.waiting.id == http.ids[-1]),
        "minDelayMs": None if delay_s is None else round(delay_s * 1000),
        "unreported": dict(queue.unreported_losses()),
    } == case["expected"]
