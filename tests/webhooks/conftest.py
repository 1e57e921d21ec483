"""An app that may send to this machine, and a receiver on it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask

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
