"""The outbox: what happens is queued once, in the transaction in which it happened."""

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.core.jobs import Job
from app.events.models import Event
from app.events.rules import EventType
from app.interactions import service as interactions
from app.products import service as products
from app.products.models import Key
from app.retention import service as retention
from app.telemetry import persistence
from app.webhooks import log
from tests.context_api import Clock, ContextApi
from tests.factories import Company, bearer, create_company, event, observation, send_events, send_evidence, send_review
from tests.webhooks.outbox import create_endpoint, deliveries, list_rows, promote


def send_report(client: FlaskClient, company: Company, interaction_id: str) -> None:
    token = company.capability(interaction_id)
    assert client.post("/api/v2/reports", json={"summary": "It worked well."}, headers=bearer(token)).status_code == 200


def queued_events() -> list[tuple[str, str | None]]:
    """Return type and interaction id of every event in the outbox."""
    return [(type_, id_ and str(id_)) for type_, id_ in list_rows(Event, "type", "interaction_id")]


def test_nothing_is_queued_without_an_endpoint(client: FlaskClient, company: Company) -> None:
    send_review(client, company.capability())
    promote()
    assert queued_events() == []


def test_a_review_and_a_report_of_one_interaction_are_three_events(client: FlaskClient, company: Company) -> None:
    create_endpoint(company)
    interaction_id = str(uuid.uuid4())
    send_review(client, company.capability(interaction_id))
    send_review(client, company.capability(interaction_id), "failure")
    send_report(client, company, interaction_id)
    promote()
    promote()
    assert queued_events() == [
        ("interaction.confirmed", interaction_id),
        ("report.created", interaction_id),
        ("review.created", interaction_id),
    ]


def test_only_the_types_that_an_endpoint_takes_are_queued(client: FlaskClient, company: Company) -> None:
    create_endpoint(company, "https://93.184.215.14/a", EventType.REPORT_CREATED)
    create_endpoint(company, "https://93.184.215.14/b", EventType.KEY_REVOKED)
    send_review(client, company.capability())
    promote()
    assert queued_events() == []


def test_a_product_that_is_an_mcp_server_confirms_once(client: FlaskClient, company: Company) -> None:
    create_endpoint(company, "https://93.184.215.14/", EventType.INTERACTION_CONFIRMED)
    interaction_id, other_id = str(uuid.uuid4()), str(uuid.uuid4())
    for _ in range(2):
        send_events(client, company, event(interaction_id, surface="mcp"), event(other_id))
        persistence.persist_waiting_batches()
        assert queued_events() == [("interaction.confirmed", interaction_id)]
    send_review(client, company.capability(interaction_id))
    promote()
    assert queued_events() == [("interaction.confirmed", interaction_id)]


def test_an_mcp_interaction_that_asks_for_context_confirms_once(context_api: ContextApi, clock: Clock) -> None:
    create_endpoint(context_api.company, "https://93.184.215.14/", EventType.INTERACTION_CONFIRMED)
    context_api.put_field("content.format", allowedValues=["audio"])
    new_id, confirmed_id, other_id = sorted(str(uuid.uuid4()) for _ in range(3))
    send_events(context_api.client, context_api.company, event(confirmed_id, surface="mcp"))
    persistence.persist_waiting_batches()
    clock.advance(seconds=1)
    for interaction_id, surface in ((confirmed_id, "mcp"), (new_id, "mcp"), (other_id, "http_json")):
        response = context_api.ask(interactionId=interaction_id, surface=surface, userRef="u1")
        assert response.status_code == 200
    assert queued_events() == [("interaction.confirmed", new_id), ("interaction.confirmed", confirmed_id)]


def test_a_key_that_is_revoked_twice_is_one_event(company: Company) -> None:
    create_endpoint(company)
    (key_id, *_) = [key.id for key in _keys(company)]
    for _ in range(2):
        with transaction():
            products.revoke_key(key_id)
    ((details,),) = list_rows(Event, "details")
    assert details == {"keyId": key_id, "kind": "product"}


def _keys(company: Company) -> list[Key]:
    with transaction():
        return products.list_keys(company.environment_id)


def _fail_after(work: Callable[[], object]) -> None:
    with transaction():
        work()
        assert session().scalar(select(func.count()).select_from(Event)) == 1
        raise ZeroDivisionError


def test_a_transaction_that_fails_leaves_no_event(company: Company) -> None:
    create_endpoint(company)
    key_id = _keys(company)[0].id
    with pytest.raises(ZeroDivisionError):
        _fail_after(lambda: products.revoke_key(key_id))
    assert queued_events() == []


def test_a_purge_is_told_by_its_counts(
    client: FlaskClient, company: Company, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH_SIZE", 2)
    create_endpoint(company, "https://93.184.215.14/", EventType.RETENTION_PURGED)
    with transaction():
        other_company = create_company()
    for sender in (company, other_company):
        events = [event(sessionRef="visit") for _ in range(3)]
        send_events(client, sender, *events)
        send_review(client, sender.capability(events[0]["interactionId"]))
        send_evidence(client, sender, observation())
    persistence.persist_waiting_batches()
    promote()
    clock.advance(days=91)
    retention.expire_feedback()
    retention.expire_evidence()
    log.queue_deliveries()
    assert deliveries("environment_id", "details") == [
        (company.environment_id, {"interactions": 3, "sessions": 1, "reviews": 1, "evidence_events": 1})
    ]


def test_a_purge_that_runs_out_of_time_notifies_the_job_of_webhooks(
    client: FlaskClient, company: Company, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_endpoint(company, "https://93.184.215.14/", EventType.RETENTION_PURGED)
    send_events(client, company, event())
    persistence.persist_waiting_batches()
    clock.advance(days=91)
    jobs: list[Job] = []
    monkeypatch.setattr("app.events.service.notify", jobs.append)
    while not retention.expire_feedback(budget_s=0).row_count:
        pass
    assert jobs == [Job.DELIVER_WEBHOOKS]


def test_the_log_of_deliveries_leaves_without_an_event_of_its_own(company: Company, clock: Clock) -> None:
    create_endpoint(company)
    with transaction():
        products.revoke_key(_keys(company)[0].id)
    log.queue_deliveries()
    clock.advance(days=91)
    assert retention.expire_feedback().row_count == 1
    assert (deliveries("id"), queued_events()) == ([], [])


def test_jobs_beside_each_other_make_one_webhook_of_each_review(app: Flask, company: Company) -> None:
    create_endpoint(company, "https://93.184.215.14/", EventType.REVIEW_CREATED)
    ids = [str(uuid.uuid4()) for _ in range(30)]
    start = threading.Barrier(4)

    def work(number: int) -> None:
        with app.app_context():
            start.wait()
            for interaction_id in ids[number::2]:
                send_review(app.test_client(), company.capability(interaction_id))
                promote()
                log.queue_deliveries()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    promote()
    log.queue_deliveries()
    rows = deliveries("interaction_ids")
    assert sorted(str(id_) for ((id_,),) in rows) == sorted(ids)


def test_a_promotion_that_dies_before_its_commit_is_repeated_with_its_events(
    client: FlaskClient, company: Company
) -> None:
    create_endpoint(company, "https://93.184.215.14/", EventType.REVIEW_CREATED)
    send_review(client, company.capability())
    values = {"batch_size": 10, "exports_reviews": False}
    with pytest.raises(ZeroDivisionError):
        _fail_after(lambda: session().execute(interactions._PROMOTE, values))
    assert queued_events() == []
    promote()
    assert len(queued_events()) == 1


def test_an_event_that_nobody_took_leaves_with_the_retention(company: Company, clock: Clock) -> None:
    create_endpoint(company)
    with transaction():
        products.revoke_key(_keys(company)[0].id)
    clock.advance(days=91)
    retention.expire_feedback()
    assert queued_events() == []


def test_a_batch_of_confirmations_is_one_webhook(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.webhooks.rules.MAX_INTERACTIONS", 2)
    create_endpoint(company, "https://93.184.215.14/", EventType.INTERACTION_CONFIRMED)
    for _ in range(3):
        send_review(client, company.capability())
    promote()
    log.queue_deliveries()
    assert sorted(len(ids) for (ids,) in deliveries("interaction_ids")) == [1, 2]
