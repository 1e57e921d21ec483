"""The roll-up of the ledger may run twice, concurrently or late; rows leave with retention."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.ledger import counts as ledger_counts
from app.ledger.models import LedgerBatch, LedgerChange, LedgerDay
from app.retention import service as retention
from app.telemetry.persistence import persist_waiting_batches
from tests.factories import Company
from tests.ledger.batches import batch_headers, counts, ledger, send

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def row_count(table: type[LedgerBatch] | type[LedgerChange] | type[LedgerDay]) -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(table)) or 0


def test_simultaneous_roll_ups_move_each_change_once(
    app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_counts, "BATCH_SIZE", 3)
    for _ in range(20):
        send(client, company, 2)
        persist_waiting_batches()

    def roll_up(_: int) -> int:
        with app.app_context():
            return ledger_counts.roll_up_changes()

    with ThreadPoolExecutor(4) as pool:
        moved = list(pool.map(roll_up, range(4)))
    assert sum(moved) + row_count(LedgerChange) == 20
    assert counts(app, company) == {"accepted": 40}
    ledger_counts.roll_up_changes()
    assert (row_count(LedgerChange), row_count(LedgerDay)) == (0, 1)
    assert counts(app, company) == {"accepted": 40}


def test_senders_beyond_the_bound_of_a_day_are_counted_together(
    app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_counts, "MAX_SENDERS", 3)
    for minor in (1, 2, 3, 4, 1, 5, 4):
        send(client, company, 1, {"User-Agent": f"agent-feedback-python/1.{minor}"})
        persist_waiting_batches()
        if minor in (2, 5):
            ledger_counts.roll_up_changes()
    ledger_counts.roll_up_changes()
    versions = {row["version"]: row["accepted"] for row in ledger(app, company)}
    assert versions == {"1.1": 2, "1.2": 1, "1.3": 1, "other": 3}


def test_days_leave_with_retention_and_ids_of_batches_after_a_week(
    app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [NOW]
    monkeypatch.setattr("app.core.clock.now", lambda: now[0])
    send(client, company, 1, batch_headers(company.environment_id))
    persist_waiting_batches()
    ledger_counts.roll_up_changes()
    for days, expected in ((6, (1, 1)), (8, (0, 1)), (92, (0, 0))):
        now[0] = NOW + timedelta(days=days)
        retention.expire_feedback()
        assert (row_count(LedgerBatch), row_count(LedgerDay)) == expected
