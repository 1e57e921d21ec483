"""Each review leaves once, as an event of the current semantic conventions."""

import json
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient
from opentelemetry.sdk.trace import TracerProvider
from sqlalchemy import delete

from app.core.database import session, transaction
from app.evaluations import exporter, service
from app.events import service as events
from app.events.models import Event
from app.events.rules import Consumer
from app.outcomes.models import Review
from app.telemetry import persistence
from config.observability import MAX_EXPORT_TIMEOUT_S
from tests.conftest import NO_DATA_DIR, ROOT
from tests.context_api import Clock
from tests.evaluations.collector import Collector, running_collector
from tests.factories import NOTE, Company, event, send_events, send_review
from tests.webhooks.outbox import list_rows, promote


@pytest.fixture
def collector(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector that the app exports reviews to."""
    with running_collector() as collector:
        monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], exports_reviews=True))
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
        exporter._exporter.cache_clear()
        yield collector
    exporter._exporter.cache_clear()


def review(client: FlaskClient, company: Company, outcome: str = "success") -> str:
    interaction_id = str(uuid.uuid4())
    send_review(client, company.capability(interaction_id), outcome)
    promote()
    return interaction_id


def waiting() -> int:
    return len(list_rows(Event, "id"))


def test_a_review_is_an_event_of_the_conventions(client: FlaskClient, company: Company, collector: Collector) -> None:
    interaction_id = str(uuid.uuid4())
    send_events(client, company, event(interaction_id))
    persistence.persist_waiting_batches()
    response = send_review(client, company.capability(interaction_id), "partial")
    promote()
    assert service.export_waiting_reviews() == 1
    assert collector.paths == ["/v1/logs"]
    assert collector.records() == [
        (
            "gen_ai.evaluation.result",
            {
                "gen_ai.evaluation.name": "agent_feedback.outcome",
                "gen_ai.evaluation.score.value": 0.5,
                "gen_ai.evaluation.score.label": "partial",
                "gen_ai.response.id": interaction_id,
                "log.record.uid": response.get_json()["review"]["id"],
                "agent_feedback.environment.id": str(company.environment_id),
                "agent_feedback.operation": "/orders/:id",
            },
        )
    ]
    (resource,) = collector.requests[0].resource_logs
    assert {pair.key: pair.value.string_value for pair in resource.resource.attributes}["service.name"] == (
        "agent-feedback"
    )
    (record,) = resource.scope_logs[0].log_records
    assert 0 <= record.observed_time_unix_nano - record.time_unix_nano < 60e9


def test_a_review_has_no_trace_of_the_job_that_sends_it(
    client: FlaskClient, company: Company, collector: Collector
) -> None:
    review(client, company)
    with TracerProvider().get_tracer("worker").start_as_current_span("export_reviews") as span:
        assert span.get_span_context().is_valid
        service.export_waiting_reviews()
    (record,) = collector.requests[0].resource_logs[0].scope_logs[0].log_records
    assert (record.trace_id, record.span_id, record.flags) == (b"", b"", 0)


@pytest.mark.parametrize(("outcome", "score"), [("success", 1.0), ("partial", 0.5), ("failure", 0.0)])
def test_an_outcome_is_a_score(
    client: FlaskClient, company: Company, collector: Collector, outcome: str, score: float
) -> None:
    review(client, company, outcome)
    service.export_waiting_reviews()
    ((_, attributes),) = collector.records()
    assert (attributes["gen_ai.evaluation.score.value"], attributes["gen_ai.evaluation.score.label"]) == (
        score,
        outcome,
    )


def test_the_note_leaves_only_by_its_setting(
    app: Flask, client: FlaskClient, company: Company, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    review(client, company)
    service.export_waiting_reviews()
    assert NOTE.encode() not in collector.requests[0].SerializeToString()
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], exports_notes=True))
    review(client, company)
    service.export_waiting_reviews()
    assert collector.records()[1][1]["gen_ai.evaluation.explanation"] == NOTE


def test_a_review_leaves_once(client: FlaskClient, company: Company, collector: Collector) -> None:
    interaction_id = review(client, company)
    send_review(client, company.capability(interaction_id), "failure")
    promote()
    assert [service.export_waiting_reviews() for _ in range(3)] == [1, 0, 0]
    assert (len(collector.records()), waiting()) == (1, 0)


def test_nothing_is_queued_without_the_setting(client: FlaskClient, company: Company) -> None:
    review(client, company)
    assert (waiting(), service.export_waiting_reviews()) == (0, 0)


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_what_a_collector_cannot_take_is_sent_later(
    client: FlaskClient, company: Company, collector: Collector, clock: Clock, status: int
) -> None:
    collector.status = status
    ids = {review(client, company) for _ in range(3)}
    assert (service.export_waiting_reviews(), waiting()) == (0, 3)
    collector.status = 200
    assert service.export_waiting_reviews() == 0
    clock.advance(seconds=15)
    assert service.export_waiting_reviews() == 3
    assert {attributes["gen_ai.response.id"] for _, attributes in collector.records()} == ids


def test_a_review_that_a_collector_refuses_does_not_hold_up_the_others(
    client: FlaskClient, company: Company, collector: Collector, clock: Clock
) -> None:
    ids = [review(client, company) for _ in range(9)]
    collector.bad_ids = {ids[0], ids[5]}
    assert service.export_waiting_reviews() == 7
    clock.advance(minutes=59)
    ids.append(review(client, company))
    assert (service.export_waiting_reviews(), waiting()) == (1, 2)
    collector.bad_ids = set()
    clock.advance(minutes=1)
    assert service.export_waiting_reviews() == 2
    assert sorted(attributes["gen_ai.response.id"] for _, attributes in collector.records()) == sorted(ids)


def test_a_collector_that_refuses_everything_is_left_alone(
    client: FlaskClient, company: Company, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_REFUSED", 2)
    collector.status = 413
    for _ in range(4):
        review(client, company)
    # Four together, then two, then one and one.
    assert (service.export_waiting_reviews(), waiting(), len(collector.paths)) == (0, 4, 4)


def test_a_collector_that_is_away_loses_nothing(
    client: FlaskClient, company: Company, collector: Collector, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    review(client, company)
    assert (service.export_waiting_reviews(), waiting()) == (0, 1)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    exporter._exporter.cache_clear()
    clock.advance(seconds=15)
    assert (service.export_waiting_reviews(), waiting()) == (1, 0)


def test_what_a_killed_worker_was_sending_is_sent_when_its_lease_ends(
    client: FlaskClient, company: Company, collector: Collector, clock: Clock
) -> None:
    review(client, company)
    with transaction():
        lease = events.lease(Consumer.EVALUATIONS, 10, service.LEASE)
    assert service.export_waiting_reviews() == 0
    clock.advance(seconds=120)
    assert service.export_waiting_reviews() == 1
    # The first worker was only slow: its lease has no rows any more.
    with transaction():
        lease.release(clock.now)
    assert waiting() == 0


def test_a_review_that_was_removed_never_leaves(client: FlaskClient, company: Company, collector: Collector) -> None:
    review(client, company)
    with transaction():
        session().execute(delete(Review))
    service.export_waiting_reviews()
    assert (collector.requests, waiting()) == ([], 0)


def test_more_than_a_batch_leaves_in_several_requests(
    client: FlaskClient, company: Company, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "BATCH_SIZE", 2)
    for _ in range(5):
        review(client, company)
    assert service.export_waiting_reviews() == 5
    assert [len(r.resource_logs[0].scope_logs[0].log_records) for r in collector.requests] == [2, 2, 1]


def test_workers_beside_each_other_send_each_review_once(
    app: Flask, client: FlaskClient, company: Company, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "BATCH_SIZE", 3)
    ids = sorted(review(client, company) for _ in range(20))
    start = threading.Barrier(4)

    def work(_: int) -> None:
        with app.app_context():
            start.wait()
            service.export_waiting_reviews()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert sorted(attributes["gen_ai.response.id"] for _, attributes in collector.records()) == ids


def test_a_lease_is_longer_than_a_request_can_take() -> None:
    assert service.LEASE.total_seconds() > 2 * MAX_EXPORT_TIMEOUT_S


def test_a_worker_imports_opentelemetry_only_to_export() -> None:
    script = (
        "import json, sys; import workers.evaluations, workers.webhooks;"
        "print(json.dumps([name for name in sys.modules if name.startswith(('opentelemetry', 'standardwebhooks'))]))"
    )
    environ = {**os.environ, "AGENT_FEEDBACK_DATA_DIR": NO_DATA_DIR, "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        [sys.executable, "-c", script], env=environ, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(process.stdout) == []
