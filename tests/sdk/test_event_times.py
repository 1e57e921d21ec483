"""When an event happened, as its telemetry says."""

import time
from datetime import datetime
from typing import Any

import pytest

from tests.sdk.adapters import ADAPTERS, Call, make_client, respond


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_the_event_is_dated_at_the_beginning_of_the_request(adapter: str) -> None:
    feedback = make_client()
    begun_at: list[float] = []

    def view(source: dict[str, Any]) -> None:
        begun_at.append(time.time())
        time.sleep(0.2)

    respond(adapter, feedback, Call(view=view))
    (event,) = feedback.events
    assert datetime.fromisoformat(event["occurredAt"]).timestamp() < begun_at[0] + 0.2
    assert event["durationMs"] >= 200
