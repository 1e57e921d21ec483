"""From what happened to a webhook that its receiver verifies."""

import threading
import uuid
from collections import Counter

import pytest
from flask.testing import FlaskClient
from sqlalchemy import delete

from app.core.database import session, transaction
from app.core.seal import Seal
from app.events.rules import EventType
from app.outcomes.models import Review
from app.products import service as products
from app.telemetry import persistence
from app.webhooks import delivery, due, log, results
from app.webhooks.sender import Attempt
from tests.context_api import Clock
from tests.factories import NOTE, Company, bearer, create_company, event, send_events, send_review
from tests.journeys.stack import wait_until
from tests.reports.test_reports import FULL_REPORT
from tests.webhooks.outbox import create_endpoint, deliveries, promote
from tests.webhooks.receiver import ReceivedWebhook, Receiver, running_receiver


def review_and_promote(client: FlaskClient, company: Company, count: int = 1) -> list[str]:
    ids = [str(uuid.uuid4()) for _ in range(count)]
    for interaction_id in ids:
        assert send_review(client, company.capability(interaction_id)).status_code == 200
    promote()
    return ids


def test_everything_that_happens_arrives_verified(client: FlaskClient, company: Company, receiver: Receiver) -> None:
    new = create_endpoint(company, receiver.url)
    interaction_id = str(uuid.uuid4())
    send_events(client, company, event(interaction_id, statusCode=200, durationMs=12.5, customerRef="customer_1"))
    persistence.persist_waiting_batches()
    token = company.capability(interaction_id)
    review = send_review(client, token, "partial").json["review"]
    report = client.post("/api/v2/reports", json=FULL_REPORT, headers=bearer(token)).json["report"]
    promote()
    with transaction():
        key = products.list_keys(company.environment_id)[0]
        products.revoke_key(key.id)
    delivery.deliver_due()
    data = {payload["type"]: payload["data"] for payload in (w.verify(new.secret) for w in receiver.webhooks)}
    environment = {"environmentId": str(company.environment_id)}
    operation = {"operation": "/orders/:id"}
    del review["source"], report["source"]
    assert data["review.created"] == {**review, **environment, **operation}
    assert data["report.created"] == {**report, **environment, **operation}
    assert data["key.revoked"] == {**environment, "keyId": key.id, "kind": "product"}
    (interaction,) = data["interaction.confirmed"]["interactions"]
    assert interaction.pop("confirmedAt")
    assert interaction.pop("occurredAt")
    assert interaction == {
        "interactionId": interaction_id,
        **operation,
        "surface": "http_json",
        "statusCode": 200,
        "durationMs": 12.5,
        "confirmationMethod": "review",
    }


def test_a_webhook_has_the_headers_of_the_standard(client: FlaskClient, company: Company, receiver: Receiver) -> None:
    create_endpoint(company, f"{receiver.url}?key=1", EventType.REVIEW_CREATED)
    review_and_promote(client, company)
    delivery.deliver_due()
    (webhook,) = receiver.webhooks
    assert webhook.path == "/hook?key=1"
    assert webhook.id.startswith("msg_")
    assert webhook.headers["webhook-timestamp"].isdigit()
    assert webhook.headers["webhook-signature"].startswith("v1,")
    assert webhook.headers["content-type"] == "application/json"
    assert webhook.headers["host"] == receiver.url.split("/")[2]


def test_what_was_delivered_is_not_sent_again(client: FlaskClient, company: Company, receiver: Receiver) -> None:
    create_endpoint(company, receiver.url, EventType.REVIEW_CREATED)
    review_and_promote(client, company, 3)
    assert [delivery.deliver_due(), delivery.deliver_due()] == [3, 0]
    assert len({webhook.id for webhook in receiver.webhooks}) == len(receiver.webhooks) == 3
    assert set(deliveries("state", "attempts", "status_code", "error")) == {("delivered", 1, 200, None)}


def test_a_company_is_sent_nothing_of_another(client: FlaskClient, company: Company, receiver: Receiver) -> None:
    with transaction():
        other_company = create_company()
    with running_receiver() as other_receiver:
        create_endpoint(company, receiver.url)
        create_endpoint(other_company, other_receiver.url)
        own_ids, other_ids = review_and_promote(client, company), review_and_promote(client, other_company)
        delivery.deliver_due()
        for server, ids, tenant in ((receiver, own_ids, company), (other_receiver, other_ids, other_company)):
            text = b"".join(webhook.body for webhook in server.webhooks).decode()
            assert text.count(str(tenant.environment_id)) == len(server.webhooks) == 2
            assert text.count(ids[0]) == 2
    assert deliveries("state") == [("delivered",)] * 4


def test_every_endpoint_is_sent_the_same_id_and_has_its_own_secret(
    client: FlaskClient, company: Company, receiver: Receiver
) -> None:
    endpoints = [create_endpoint(company, receiver.url + path, EventType.REVIEW_CREATED) for path in ("/a", "/b")]
    review_and_promote(client, company)
    delivery.deliver_due()
    first, second = sorted(receiver.webhooks, key=lambda webhook: webhook.path)
    assert first.id == second.id
    assert first.verify(endpoints[0].secret) == second.verify(endpoints[1].secret)
    assert endpoints[0].secret != endpoints[1].secret


def test_a_review_that_was_removed_never_leaves(client: FlaskClient, company: Company, receiver: Receiver) -> None:
    create_endpoint(company, receiver.url, EventType.REVIEW_CREATED)
    review_and_promote(client, company)
    with transaction():
        session().execute(delete(Review))
    delivery.deliver_due()
    assert receiver.webhooks == []
    assert deliveries("state", "error") == [("dropped", "rows_removed")]


def test_no_row_of_a_webhook_holds_what_an_agent_wrote(
    client: FlaskClient, company: Company, receiver: Receiver
) -> None:
    create_endpoint(company, receiver.url)
    review_and_promote(client, company)
    delivery.deliver_due()
    assert NOTE in receiver.webhooks[0].body.decode() + receiver.webhooks[1].body.decode()
    columns = ("type", "interaction_ids", "details", "state", "error")
    assert NOTE not in str(deliveries(*columns))


def test_what_a_killed_worker_was_sending_is_sent_when_its_lease_ends(
    client: FlaskClient, company: Company, receiver: Receiver, clock: Clock
) -> None:
    create_endpoint(company, receiver.url, EventType.REVIEW_CREATED)
    review_and_promote(client, company)
    log.queue_deliveries()
    (first_try,) = due.claim_due(32, {}, is_failing=False)
    clock.advance(seconds=59)
    delivery.deliver_due()
    assert receiver.webhooks == []
    clock.advance(seconds=1)
    delivery.deliver_due()
    assert len(receiver.webhooks) == 1
    # The first worker was only slow, and comes back with a failure.
    results.record([(first_try, Attempt(500, "status", 1))])
    assert deliveries("state", "attempts") == [("delivered", 2)]


def test_a_slow_receiver_holds_up_no_other(client: FlaskClient, company: Company, receiver: Receiver) -> None:
    release = threading.Event()

    def answer_late(_: ReceivedWebhook) -> int:
        release.wait(10)
        return 200

    with running_receiver() as slow_receiver:
        slow_receiver.answer = answer_late
        create_endpoint(company, slow_receiver.url, EventType.REVIEW_CREATED)
        review_and_promote(client, company, 40)
        create_endpoint(company, receiver.url, EventType.REVIEW_CREATED)
        app = client.application

        def deliver() -> None:
            with app.app_context():
                delivery.deliver_due()

        worker = threading.Thread(target=deliver)
        worker.start()
        try:
            wait_until(lambda: len(slow_receiver.webhooks) == due.MAX_OF_ENDPOINT, 10)
            ids = review_and_promote(client, company, 3)
            wait_until(lambda: all(any(id_ in str(w.body) for w in receiver.webhooks) for id_ in ids), 10)
            assert len(slow_receiver.webhooks) == due.MAX_OF_ENDPOINT
        finally:
            release.set()
            worker.join()
        assert set(deliveries("state")) == {("delivered",)}
        assert Counter(slow_receiver.bodies()).most_common(1)[0][1] == 1


def test_a_secret_that_no_sealing_secret_opens_is_an_error_in_the_log(
    client: FlaskClient, company: Company, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_endpoint(company, receiver.url, EventType.REVIEW_CREATED)
    review_and_promote(client, company)
    monkeypatch.setattr(due, "secret_seal", lambda: Seal(["another secret"]))
    delivery.deliver_due()
    assert receiver.webhooks == []
    assert deliveries("state", "error") == [("pending", "secret_unreadable")]
