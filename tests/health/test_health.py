"""Health for the platform."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.jobs import JobNotifier


def test_the_process_is_alive(client: FlaskClient) -> None:
    assert client.get("/healthz").json == {"status": "alive"}


def test_it_is_ready_when_everything_is_there(client: FlaskClient) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json == {"status": "ready", "database": True, "migrations": True, "broker": True}


def test_it_says_that_the_broker_is_missing(app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.extensions, "job_notifier", JobNotifier("redis://127.0.0.1:1/0"))
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json["broker"], answer.json["database"]) == (503, False, True)


def test_it_says_that_a_migration_is_missing(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.health.service.newest_migration", lambda: "9999")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json["migrations"], answer.json["database"]) == (503, False, True)
