"""An agent that uses httpbin and tells truthfully how it went."""

import base64
import itertools
import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import requests
from agent_feedback.agent import Received, from_response


@dataclass(frozen=True)
class Task:
    """What the agent asks of the product, and how it judges the answer."""

    operation: str
    path: str
    judge: Callable[[dict[str, Any]], bool]


@dataclass(frozen=True)
class Visit:
    """One use of the product."""

    operation: str
    interaction_id: str
    status: int
    outcome: str | None
    """What the agent said of it, if it said anything."""


def tasks() -> Iterator[Task]:
    """Make tasks without end, over several operations; some ask for what httpbin does not do."""
    for number in itertools.count():
        word = f"word-{number}"
        yield from (
            Task("/get", f"/get?word={word}", lambda body, word=word: body["args"] == {"word": word}),
            Task("/anything/:id", f"/anything/{number}", lambda body, n=number: body["url"].endswith(f"/{n}")),
            Task("/anything/:id", f"/anything/{uuid.uuid4()}", lambda body: body["method"] == "GET"),
            Task("/uuid", "/uuid", lambda body: uuid.UUID(body["uuid"]).version == 4),
            # This one is not satisfied: httpbin answers with a fixed slide show, whatever is asked for.
            Task("/json", f"/json?title={word}", lambda body, word=word: body["slideshow"]["title"] == word),
            Task("/headers", "/headers", lambda body: "Host" in body["headers"]),
            Task("/ip", "/ip", lambda body: body["origin"].startswith("127.")),
            Task("/user-agent", "/user-agent", lambda body: "user-agent" in body),
        )


def use(product_url: str, task: Task, allowed: list[str], *, is_reviewing: bool) -> Visit:
    """Do one task, and review it truthfully if this agent is one that does."""
    response = requests.get(product_url + task.path, headers={"X-Visit": "visit-1"}, timeout=10)
    envelope = from_response(response, allowed_origins=allowed)
    assert envelope is not None
    body = {name: value for name, value in response.json().items() if name != "_agentFeedback"}
    is_satisfied = response.status_code == 200 and task.judge(body)
    outcome = "success" if is_satisfied else "failure"
    if is_reviewing:
        note = "matched what was asked" if is_satisfied else "did not contain what was asked for"
        receipt = envelope.submit_outcome(outcome, f"The status was {response.status_code} and the content {note}.")
        assert receipt["review"]["outcome"] == outcome
    return Visit(task.operation, _interaction(envelope), response.status_code, outcome if is_reviewing else None)


def _interaction(envelope: Received) -> str:
    payload = envelope.content["submitOutcome"]["authorization"].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return str(claims["i"])
