"""An app that may send to this machine, a receiver on it, and its endpoint."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask

from app.events.rules import EventType
from app.webhooks import service
from tests.context_api import Clock
from tests.factories import Company
from tests.webhooks.outbox import create_endpoint
from tests.webhooks.receiver import Receiver, running_receiver


@pytest.fixture
def private_app(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """The app with AGENT_FEEDBACK_WEBHOOKS_ALLOW_PRIVATE."""
    settings = replace(app.extensions["settings"], webhooks_allow_private=True)
    monkeypatch.setitem(app.extensions, "settings", settings)
    return app


@pytest.fixture
def receiver(private_app: Flask) -> Iterator[Receiver]:
    with running_receiver() as receiver:
        yield receiver


@pytest.fixture
def endpoint(company: Company, receiver: Receiver, clock: Clock) -> service.NewSecret:
    return create_endpoint(company, receiver.url, EventType.REVIEW_CREATED)
