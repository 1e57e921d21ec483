"""A product that the command line looks at, and a run of the command line."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from agent_feedback import AgentFeedback
from agent_feedback.agent import requests
from agent_feedback.cli import main

from tests.sdk.endpoint import KEY, Endpoint, Reply
from tests.sdk.shop import serving_app
from tests.sdk.site import make_app


@contextmanager
def serving_product(service: Endpoint, app: Any = None, **settings: Any) -> Iterator[str]:
    """Serve a product with the adapter; yields a URL of it."""
    feedback = AgentFeedback(KEY, endpoint=service.url, **settings)
    events: list[dict[str, Any]] = []
    feedback.telemetry.put = events.append
    with serving_app(feedback.wsgi(app or make_app())) as url:
        yield f"{url}/orders"


class Result(NamedTuple):
    """What a command has ended with."""

    code: int
    output: str
    errors: str


class CommandLine:
    """Runs commands in this process, with a person at the terminal where there are answers."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._monkeypatch = capsys, monkeypatch
        monkeypatch.setattr(requests, "RETRY_DELAY_S", 0.01)

    def run(self, *words: str, answers: str | None = None, standard_input: bytes = b"") -> Result:
        text = io.TextIOWrapper(io.BytesIO(standard_input if answers is None else answers.encode()))
        self._monkeypatch.setattr("sys.stdin", text)
        for module in ("agent", "feedback", "product"):
            self._monkeypatch.setattr(f"agent_feedback.cli.{module}.is_interactive", lambda: answers is not None)
        try:
            code = main(words)
        except SystemExit as error:
            code = int(error.code or 0)
        output, errors = self._capsys.readouterr()
        assert "Traceback" not in errors
        return Result(code, output, errors)


def reply_with(endpoint: Endpoint, *answers: dict[str, Any]) -> None:
    endpoint.replies.extend(Reply(200, json.dumps(answer).encode()) for answer in answers)


def paths(endpoint: Endpoint) -> list[str]:
    return [request.path.removeprefix("/api/v2/") for request in endpoint.requests]
