"""`docs/webhooks.md` says what is so, and its receiver works."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.serving import make_server

from app.events.rules import EventType
from app.retention.service import PURGED_TABLES
from app.webhooks import delivery, payloads
from app.webhooks.rules import MAX_INTERACTIONS, RETRY_DELAYS
from app.webhooks.signing import create_secret
from tests.conftest import ROOT
from tests.factories import Company
from tests.webhooks.outbox import create_endpoint, deliveries, get_endpoint
from tests.webhooks.test_delivery import review_and_promote

GUIDE = (ROOT / "docs" / "webhooks.md").read_text()


@contextmanager
def running(app: Flask) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}/hook"
    finally:
        server.shutdown()
        thread.join()


def create_receiver(secret: str, monkeypatch: pytest.MonkeyPatch) -> Flask:
    (block,) = re.findall(r"<!-- runs in tests/webhooks/test_guide.py -->\n```python\n(.*?)```", GUIDE, re.DOTALL)
    monkeypatch.setenv("WEBHOOK_SECRET", secret)
    module: dict[str, Flask] = {"__name__": "receiver"}
    exec(block, module)
    return module["app"]


def test_the_receiver_of_the_guide_takes_what_is_signed(
    private_app: Flask,
    client: FlaskClient,
    company: Company,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    secret = create_secret()
    monkeypatch.setattr("app.webhooks.service.create_secret", lambda: secret)
    with running(create_receiver(secret, monkeypatch)) as url:
        create_endpoint(company, url, EventType.REVIEW_CREATED)
        (interaction_id,) = review_and_promote(client, company)
        delivery.deliver_due()
        assert requests.post(url, json={}, timeout=10).status_code == 400
    assert deliveries("state", "status_code") == [("delivered", 204)]
    printed = capsys.readouterr().out
    assert printed.startswith("review.created")
    assert interaction_id in printed


def test_the_receiver_of_the_guide_refuses_another_secret(
    private_app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(create_receiver(create_secret(), monkeypatch)) as url:
        create_endpoint(company, url, EventType.REVIEW_CREATED)
        review_and_promote(client, company)
        delivery.deliver_due()
    assert deliveries("state", "status_code") == [("pending", 400)]
    assert get_endpoint().failure_count == 1


def test_the_guide_names_every_event_and_every_table() -> None:
    assert re.findall(r"^\| `([a-z]+\.[a-z]+)` \|", GUIDE, re.MULTILINE) == list(EventType)
    (removed,) = re.findall(r"`removed`: how many, by (.*?);", GUIDE)
    assert set(re.findall(r"`(\w+)`", removed)) == PURGED_TABLES
    assert f"up to {MAX_INTERACTIONS} of them" in GUIDE


def test_the_guide_names_every_delay() -> None:
    assert [int(delay.total_seconds()) for delay in RETRY_DELAYS] == [
        10,
        *(60 * minutes for minutes in (1, 5, 20)),
        *(3600 * hours for hours in (1, 2, 4, 7, 9)),
    ]
    text = " ".join(GUIDE.split())
    assert "10 seconds, 1, 5 and 20 minutes, 1, 2, 4, 7 and 9 hours" in text


def test_the_example_of_the_guide_has_the_members_of_a_body(
    private_app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = []
    build = payloads.build_body
    monkeypatch.setattr("app.webhooks.due.build_body", lambda *a: bodies.append(build(*a)))
    create_endpoint(company, "http://127.0.0.1:1/", EventType.REVIEW_CREATED)
    review_and_promote(client, company)
    delivery.deliver_due()
    (example,) = map(json.loads, re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL))
    body = json.loads(bodies[0] or b"")
    assert (body.keys(), set(body["data"])) == (example.keys(), set(example["data"]))
