"""Evidence over real processes: what was answered is stored once, whatever is killed, and the job rolls it up."""

import json
import signal
import time
import urllib.error
import urllib.request
from typing import Any

from tests.factories import SOURCE, bearer, observation
from tests.journeys.stack import Stack, wait_until

PROVIDER = "journey-cdn"
"""Others may send to the same environment."""

ROLLED_UP_WITHIN_S = 150
"""The job runs every minute, and a worker that was killed may have taken one run with it."""


def send(stack: Stack, events: list[dict[str, Any]]) -> dict[str, int] | None:
    """Send a batch; None where no answer came or the service could not answer."""
    body = json.dumps({"schemaVersion": 1, "source": {**SOURCE, "provider": PROVIDER}, "events": events}).encode()
    url = f"{stack.url}/api/v1/evidence/http-requests/batches"
    request = urllib.request.Request(url, body, bearer(stack.company.company_key))
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            receipt: dict[str, int] = json.load(response)
            return receipt
    except urllib.error.HTTPError as error:
        if error.code != 503:
            raise
        return None
    except OSError:
        return None


def crash_database(stack: Stack) -> None:
    stack.postgres.stop(signal.SIGQUIT)
    stack.postgres.start()


def test_what_was_answered_is_stored_once_whatever_is_killed(stack: Stack) -> None:
    batches = [[observation() for _ in range(50)] for _ in range(40)]
    accepted = 0
    for number, batch in enumerate(batches):
        if number == 10:
            stack.supervisor.kill("web")
        elif number == 20:
            crash_database(stack)
        elif number == 30:
            stack.supervisor.kill("worker")
        while (receipt := send(stack, batch)) is None:
            time.sleep(0.2)
        assert sum(receipt.values()) == 50
        accepted += receipt["accepted"]
    total = stack.value("SELECT count(*) FROM evidence_events WHERE source_provider = %s", PROVIDER)
    # An answer that was lost on its way is a duplicate the next time.
    assert accepted <= total == 40 * 50
    second_responses = [send(stack, batch) for batch in batches]
    assert second_responses == [{"accepted": 0, "duplicates": 50, "expired": 0}] * 40
    wait_until(lambda: stack.value("SELECT count(*) FROM evidence_changes") == 0, ROLLED_UP_WITHIN_S)
    assert stack.value("SELECT sum(events) FROM evidence_days WHERE source_provider = %s", PROVIDER) == total
