"""What is stored of a batch: once, under its environment, and only as long as it is kept."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, text

from app.core.database import session, transaction
from app.core.errors import Unauthorized
from app.evidence import service
from app.evidence.models import EvidenceEvent
from app.evidence.schemas import EvidenceBatchSchema
from app.products import service as products
from app.products.key_cache import key_cache
from app.products.rules import Mode
from tests.factories import SOURCE, Company, create_company, observation, send_evidence

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def set_clock(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    monkeypatch.setattr("app.core.clock.now", lambda: moment)


def stored_events(**filters: Any) -> list[EvidenceEvent]:
    with transaction():
        return list(session().scalars(select(EvidenceEvent).filter_by(**filters)))


def receipt(accepted: int = 0, duplicates: int = 0, expired: int = 0) -> dict[str, int]:
    return {"accepted": accepted, "duplicates": duplicates, "expired": expired}


def test_sending_again_stores_nothing_and_says_so(client: FlaskClient, company: Company) -> None:
    events = [observation() for _ in range(10)]
    assert send_evidence(client, company, *events[:6]).json == receipt(accepted=6)
    assert send_evidence(client, company, *events).json == receipt(accepted=4, duplicates=6)
    assert send_evidence(client, company, *events).json == receipt(duplicates=10)
    assert len(stored_events()) == 10


def test_the_first_content_of_an_event_stays(client: FlaskClient, company: Company) -> None:
    first, second = observation("event_0001", responseStatus=200), observation("event_0001", responseStatus=500)
    assert send_evidence(client, company, first, second).json == receipt(accepted=1, duplicates=1)
    assert send_evidence(client, company, second).json == receipt(duplicates=1)
    assert [row.response_status for row in stored_events()] == [200]


@pytest.mark.parametrize("other_source", [{"kind": "edge_worker"}, {"provider": "other"}, {"sourceId": "source_0002"}])
def test_another_source_has_events_of_its_own(
    client: FlaskClient, company: Company, other_source: dict[str, str]
) -> None:
    event = observation("event_0001")
    send_evidence(client, company, event)
    assert send_evidence(client, company, event, source=other_source).json == receipt(accepted=1)
    assert len({row.digest for row in stored_events()}) == len({row.source_digest for row in stored_events()}) == 2


def test_another_environment_has_events_of_its_own(client: FlaskClient, company: Company) -> None:
    with transaction():
        other_company = create_company()
    event = observation("event_0001")
    assert send_evidence(client, company, event).json == receipt(accepted=1)
    assert send_evidence(client, other_company, event).json == receipt(accepted=1)
    rows = stored_events()
    assert {row.environment_id for row in rows} == {company.environment_id, other_company.environment_id}
    assert len({row.digest for row in rows}) == len({row.source_digest for row in rows}) == 2


def test_twenty_simultaneous_senders_of_the_same_batches_store_each_event_once(app: Flask, company: Company) -> None:
    # Different orders and overlaps: what one sender waits for, another may hold.
    events = [observation() for _ in range(300)]
    batches = [events[:200], events[100:], events[::-1], events[::2] + events[1::2]]
    start = threading.Barrier(20)

    def work(number: int) -> list[Any]:
        client = app.test_client()
        start.wait()
        turned = batches[number % 4 :] + batches[: number % 4]
        return [(send_evidence(client, company, *batch).json, len(batch)) for batch in turned]

    with ThreadPoolExecutor(20) as pool:
        responses = [response for results in pool.map(work, range(20)) for response in results]
    assert all(sum(response.values()) == event_count for response, event_count in responses)
    assert sum(response["accepted"] for response, _ in responses) == len(stored_events()) == 300
    with transaction():
        assert session().scalar(text("SELECT sum(events) FROM evidence_changes")) == 300


def test_what_is_older_than_the_retention_does_not_come_in(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, NOW)
    first_kept = NOW - timedelta(days=90)
    moments = [first_kept, first_kept - timedelta(microseconds=1), NOW - timedelta(days=400), NOW]
    response = send_evidence(client, company, *(observation(observedAt=moment.isoformat()) for moment in moments))
    assert response.json == receipt(accepted=2, expired=2)
    assert {row.observed_at for row in stored_events()} == {first_kept, NOW}


def test_each_environment_says_how_long_it_keeps(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, NOW)
    event = observation(observedAt=(NOW - timedelta(days=3, seconds=1)).isoformat())
    with transaction():
        products.set_environment(company.environment_id, evidence_retention_days=3)
    assert send_evidence(client, company, event, event).json == receipt(duplicates=1, expired=1)
    with transaction():
        products.set_environment(company.environment_id, evidence_retention_days=4)
    assert send_evidence(client, company, event).json == receipt(accepted=1)


@pytest.mark.parametrize(
    ("moment", "outcome"),
    [
        ("0001-01-01T00:00:00+14:00", receipt(expired=1)),
        ("0001-01-01T00:00:00+23:59", receipt(expired=1)),
        ("1969-12-31T23:59:59Z", receipt(expired=1)),
        ("2026-06-01T10:30:00+23:59", receipt(accepted=1)),
        ("2026-05-31T12:00:00-23:59", receipt(accepted=1)),
    ],
)
def test_any_offset_is_understood(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch, moment: str, outcome: dict[str, int]
) -> None:
    set_clock(monkeypatch, NOW)
    assert send_evidence(client, company, observation(observedAt=moment)).json == outcome
    assert all(row.observed_at == datetime.fromisoformat(moment) for row in stored_events())


def test_an_instant_at_the_end_of_time_lies_ahead(client: FlaskClient, company: Company) -> None:
    response = send_evidence(client, company, observation(observedAt="9999-12-31T23:59:59.999999-12:00"))
    assert response.status_code == 422


def test_an_environment_that_is_gone_takes_nothing(app: Flask, company: Company) -> None:
    with transaction():
        key = key_cache().find(company.company_key.split("_")[2])
        assert key
    environment = replace(key.environment, id=uuid.uuid4())
    body = {"schemaVersion": 1, "source": SOURCE, "events": [observation()]}
    with pytest.raises(Unauthorized):
        service.accept_batch(environment, EvidenceBatchSchema().accept(body))
    with transaction():
        assert session().scalar(select(func.count()).select_from(EvidenceEvent)) == 0


def test_evidence_does_not_depend_on_the_feedback_mode(client: FlaskClient) -> None:
    with transaction():
        company = create_company(Mode.OFF)
    assert send_evidence(client, company, observation()).json == receipt(accepted=1)
