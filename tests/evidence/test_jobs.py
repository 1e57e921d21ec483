"""The jobs of evidence, which may run twice, concurrently or late."""

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, text

from app.core.database import session, transaction
from app.evidence import counts
from app.evidence.models import EvidenceChange, EvidenceDay, EvidenceEvent
from app.products import service as products
from app.retention import service as retention
from tests.evidence.raw import summary_and_expectation
from tests.factories import Company, create_company, observation, send_evidence

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def set_clock(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    monkeypatch.setattr("app.core.clock.now", lambda: moment)


def count(table: type[EvidenceEvent] | type[EvidenceChange] | type[EvidenceDay]) -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(table)) or 0


def fill(client: FlaskClient, company: Company, number: int = 5) -> None:
    send_evidence(client, company, *(observation(observedAt=NOW.isoformat()) for _ in range(number)))


def test_simultaneous_roll_ups_move_each_change_once(
    app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.evidence.counts.BATCH_SIZE", 3)
    for _ in range(40):
        send_evidence(client, company, observation())

    def work(_: int) -> int:
        with app.app_context():
            return counts.roll_up_changes()

    with ThreadPoolExecutor(8) as pool:
        row_count = sum(pool.map(work, range(8)))
    assert row_count + counts.roll_up_changes() == 40
    content, expected = summary_and_expectation(company)
    assert content == expected
    assert content["totals"]["events"] == 40


def test_a_roll_up_leaves_to_another_what_that_one_is_at(client: FlaskClient, company: Company) -> None:
    send_evidence(client, company, observation())
    with transaction():
        session().execute(text("SELECT pg_advisory_xact_lock(hashtext('evidence.roll_up'))"))
        assert counts.roll_up_changes() == 0
    assert counts.roll_up_changes() == 1


def test_each_environment_keeps_its_evidence_for_as_long_as_it_says(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction():
        other_company = create_company()
        products.set_environment(other_company.environment_id, evidence_retention_days=10)
    set_clock(monkeypatch, NOW)
    fill(client, company)
    fill(client, other_company)
    set_clock(monkeypatch, NOW + timedelta(days=10, seconds=1))
    assert retention.expire_evidence().row_count == 5
    with transaction():
        assert session().scalars(select(EvidenceEvent.environment_id).distinct()).all() == [company.environment_id]


def test_the_retention_of_feedback_and_of_evidence_do_not_meet(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction():
        products.set_environment(company.environment_id, retention_days=1, evidence_retention_days=20)
    set_clock(monkeypatch, NOW)
    fill(client, company)
    set_clock(monkeypatch, NOW + timedelta(days=20))
    retention.expire_feedback()
    assert retention.expire_evidence().row_count == 0
    assert count(EvidenceEvent) == 5


def test_each_event_leaves_at_its_own_age(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, NOW)
    early_moment = NOW - timedelta(hours=11)
    send_evidence(client, company, *(observation(observedAt=moment.isoformat()) for moment in (early_moment, NOW)))
    for moment, row_count in ((early_moment, 0), (NOW, 1), (NOW + timedelta(microseconds=1), 1)):
        set_clock(monkeypatch, moment + timedelta(days=90))
        assert retention.expire_evidence().row_count == row_count
        content, expected = summary_and_expectation(company)
        assert content == expected


def test_a_purge_goes_in_batches_and_stops_when_its_time_is_over(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.retention.service.BATCH_SIZE", 2)
    set_clock(monkeypatch, NOW)
    fill(client, company)
    counts.roll_up_changes()
    set_clock(monkeypatch, NOW + timedelta(days=91))
    first = retention.expire_evidence(budget_s=0)
    assert (first.row_count, first.is_complete) == (2, False)
    assert count(EvidenceEvent) == 3
    assert retention.expire_evidence().is_complete
    counts.roll_up_changes()
    assert [count(table) for table in (EvidenceEvent, EvidenceChange, EvidenceDay)] == [0, 0, 0]


def test_log_lines_hold_counts_only(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    set_clock(monkeypatch, NOW)
    send_evidence(client, company, observation("event_telling", observedAt=NOW.isoformat(), referrerHost="claude.ai"))
    send_evidence(client, company, observation("event_telling", agentToken="TellingBot"))
    counts.roll_up_changes()
    set_clock(monkeypatch, NOW + timedelta(days=91))
    retention.expire_evidence()
    lines = [str(vars(record)) for record in caplog.records if not record.name.startswith("sqlalchemy")]
    assert any("'removed': 1" in line for line in lines)
    for word in ("telling", "claude", "example-cdn", "source_0001", str(company.environment_id)):
        assert not [line for line in lines if word in line.lower()]
