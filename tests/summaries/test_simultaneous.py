"""Two writers of one interaction at the same moment."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.database import session, transaction
from app.interactions import service as interactions
from app.telemetry import persistence
from tests.factories import Company, event, send_events, send_review
from tests.summaries.raw import capability, counts_and_expectation, interaction_id, send_report, store_interaction


def run_during(app: Flask, write: Callable[[], object], job: Callable[[], object]) -> None:
    """Run a job that waits for what a transaction has written and not committed yet."""

    def run() -> None:
        with app.app_context():
            job()

    with ThreadPoolExecutor(1) as pool:
        with transaction():
            write()
            future = pool.submit(run)
            wait_until_somebody_waits()
        future.result()


def wait_until_somebody_waits() -> None:
    deadline = time.monotonic() + 20
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    while session().scalar(text(waiting)) == 0:
        assert time.monotonic() < deadline
        time.sleep(0.02)
        # A transaction sees the activity of its first look.
        session().execute(text("SELECT pg_stat_clear_snapshot()"))


@pytest.mark.parametrize("surface", ["http_json", "mcp"])
def test_a_request_for_context_that_is_committed_during_its_promotion_is_counted_once(
    app: Flask, company: Company, surface: str
) -> None:
    assert send_review(app.test_client(), capability(company, 1)).status_code == 200
    run_during(
        app,
        lambda: store_interaction(company, 1, surface),
        interactions.promote_queued_interactions,
    )
    assert_counted_once(company)


def test_a_placeholder_that_is_filled_while_its_review_is_promoted_is_counted_once(
    app: Flask, company: Company
) -> None:
    assert send_report(app.test_client(), capability(company, 1)).status_code == 200
    interactions.promote_queued_interactions()
    assert send_review(app.test_client(), capability(company, 1)).status_code == 200
    run_during(
        app,
        lambda: store_interaction(company, 1, "http_json"),
        interactions.promote_queued_interactions,
    )
    assert_counted_once(company)


def test_a_placeholder_that_two_events_fill_at_once_is_counted_once(
    app: Flask, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert send_review(app.test_client(), capability(company, 1)).status_code == 200
    interactions.promote_queued_interactions()
    send_events(app.test_client(), company, event(interaction_id(1), operation="/b"))
    fill_from_telemetry = persistence._fill

    def fill(keys: dict[str, Any]) -> None:
        """Fill the row that a transaction of another thread has filled and not committed yet."""
        written_event = threading.Event()

        def store_slowly() -> None:
            with app.app_context(), transaction():
                store_interaction(company, 1, "mcp")
                written_event.set()
                wait_until_somebody_waits()

        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(store_slowly)
            assert written_event.wait(20)
            fill_from_telemetry(keys)
            future.result()

    monkeypatch.setattr(persistence, "_fill", fill)
    persistence.persist_waiting_batches()
    assert_counted_once(company)


def assert_counted_once(company: Company) -> None:
    counted, stored = counts_and_expectation(company.environment_id)
    assert counted == stored
    assert list(counted.values()) == [(1, 1, 1, 0, 0)]
