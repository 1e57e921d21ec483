"""The endpoints `/healthz` and `/readyz`."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.errors import Unavailable
from app.core.jobs import Job, JobNotifier
from app.health import job_runs
from app.health.service import newest_migration


def test_the_process_is_alive(client: FlaskClient) -> None:
    assert client.get("/healthz").json == {"status": "alive"}


def test_it_is_ready_when_database_broker_worker_and_beat_are(client: FlaskClient) -> None:
    job_runs.record_start(Job.ROLL_UP_DAYS, is_scheduled=True)
    response = client.get("/readyz")
    assert response.status_code == 200
    body = response.json
    assert {name for name, value in body.items() if value is True} == {"database", "migrations", "broker"}
    assert (body["status"], body["worker"]["running"], body["beat"]["running"]) == ("ready", True, True)
    assert not {"error", "warning"} & set(body)


def test_it_says_that_the_broker_is_missing(app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.extensions, "job_notifier", JobNotifier("redis://127.0.0.1:1/0"))
    response = client.get("/readyz")
    assert (response.status_code, response.json["broker"], response.json["database"]) == (503, False, True)
    assert response.json["error"].startswith("The broker cannot be reached")


def test_it_says_that_a_migration_is_missing(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.health.service.newest_migration", lambda: 9999)
    response = client.get("/readyz")
    assert (response.status_code, response.json["migrations"], response.json["database"]) == (503, False, True)
    assert response.json["error"].endswith("run flask db upgrade.")


def test_it_stays_ready_when_a_newer_release_has_migrated(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.health.service.newest_migration", lambda: newest_migration() - 1)
    response = client.get("/readyz")
    assert (response.status_code, response.json["migrations"]) == (200, True)


def test_it_says_that_the_database_is_missing(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise Unavailable

    monkeypatch.setattr("app.health.service.MIGRATION_VERSION.all", fail)
    response = client.get("/readyz")
    assert (response.status_code, response.json["database"], response.json["worker"]) == (503, False, None)
    assert response.json["error"] == "The database cannot be reached."
