"""The retention of signals, requests, retrievals and customers."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, text

from app.context.models import ContextRetrieval
from app.core.database import session, transaction
from app.customers.models import Customer, CustomerChoice, CustomerReference
from app.enrichment.models import ClosedRequest, EnrichmentRequest, Signal
from app.products import service as products
from app.retention import service
from tests.context_api import Clock, ContextApi, item


def count(model: Any) -> int:
    with transaction():
        return session().execute(select(func.count()).select_from(model)).scalar_one()


def create_context(context_api: ContextApi) -> None:
    request = context_api.ask(userRef="u1").json
    context_api.answer(request, item(remember=True), item("content.format", "audio"))
    context_api.retrieve(userRef="u1")


def test_a_shorter_retention_counts_for_what_is_there(context_api: ContextApi, clock: Clock) -> None:
    create_context(context_api)
    clock.advance(days=8)
    with transaction():
        products.set_environment(context_api.company.environment_id, retention_days=7)
    service.expire_enrichment()
    assert count(Signal) == 0


def test_a_customer_with_an_open_request_is_kept(context_api: ContextApi, clock: Clock) -> None:
    context_api.ask(userRef="u1")
    context_api.ask(anonymousRef="n1")
    clock.advance(days=95)
    request = context_api.ask(userRef="u1", anonymousRef="n1").json
    service.expire_feedback()
    assert context_api.answer(request, item(remember=True)).status_code == 200


def test_an_approval_does_not_prevent_removal(context_api: ContextApi, clock: Clock) -> None:
    context_api.choose(context_api.ask(userRef="u1").json, "approved")
    clock.advance(days=92)
    service.expire_enrichment()
    service.expire_feedback()
    assert (count(Customer), count(CustomerChoice)) == (0, 0)


def test_each_table_expires_at_its_own_time(context_api: ContextApi, clock: Clock) -> None:
    create_context(context_api)
    start_at = clock.now
    for age, signals, requests, retrievals, customers in (
        (timedelta(hours=1, minutes=59), 2, 1, 1, 1),
        (timedelta(hours=2, seconds=1), 1, 0, 1, 1),
        (timedelta(days=89, hours=23), 1, 0, 1, 1),
        (timedelta(days=90, seconds=1), 0, 0, 0, 1),
        (timedelta(days=91, seconds=1), 0, 0, 0, 0),
    ):
        clock.now = start_at + age
        assert service.expire_enrichment().is_complete
        assert service.expire_feedback().is_complete
        counts = count(Signal), count(EnrichmentRequest), count(ContextRetrieval), count(Customer)
        assert counts == (signals, requests, retrievals, customers), age
    assert count(CustomerReference) == 0
    clock.now = start_at + timedelta(days=91)
    service.expire_feedback()
    assert count(ClosedRequest) == 0


def test_a_customer_who_declined_or_came_back_is_kept(context_api: ContextApi, clock: Clock) -> None:
    context_api.choose(context_api.ask(userRef="u1").json, "declined")
    context_api.ask(userRef="u2")
    clock.advance(days=89)
    context_api.ask(userRef="u2")
    clock.advance(days=89)
    service.expire_feedback()
    assert (count(Customer), count(CustomerChoice)) == (2, 1)
    assert context_api.ask(userRef="u1").json["state"] == "declined"


def test_a_second_run_removes_what_one_batch_leaves(
    context_api: ContextApi, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.retention.service.BATCH_SIZE", 2)
    for number in range(5):
        request = context_api.ask(userRef=f"u{number}").json
        context_api.answer(request, item())
    clock.advance(hours=3)
    first_purge = service.expire_enrichment(budget_s=0)
    assert (first_purge.row_count, first_purge.is_complete) == (2, False)
    second_purge = service.expire_enrichment()
    assert (second_purge.row_count, second_purge.is_complete) == (8, True)
    assert service.expire_enrichment().row_count == 0


def test_a_concurrent_run_leaves_locked_tables_to_the_other(context_api: ContextApi, clock: Clock) -> None:
    create_context(context_api)
    clock.advance(hours=3)
    with transaction():
        session().execute(text("SELECT pg_advisory_xact_lock(hashtext('retention'), hashtext('signals'))"))
        # The other run has a connection of its own.
        removed_rows: list[int] = []
        app = context_api.client.application

        def run() -> None:
            with app.app_context():
                removed_rows.append(service.expire_enrichment().row_count)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join(30)
    assert removed_rows == [1]
    assert count(Signal) == 2
