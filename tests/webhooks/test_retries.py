"""Failures: retries with backoff, the end of a delivery, disabled endpoints, and replay."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select, text

from app.accounts.models import AuditEntry
from app.core.database import session, transaction
from app.core.errors import Conflict, NotFound
from app.events.models import Event
from app.webhooks import delivery, log, service
from app.webhooks.rules import RETRY_DELAYS, DisabledReason
from tests.context_api import Clock
from tests.factories import Company
from tests.webhooks.outbox import deliveries, get_endpoint, list_rows, next_attempt_at
from tests.webhooks.receiver import Receiver, running_receiver
from tests.webhooks.test_delivery import review_and_promote


def audit_actions() -> list[str]:
    with transaction():
        return list(
            session().scalars(
                select(AuditEntry.action).where(AuditEntry.action.startswith("webhook.")).order_by(AuditEntry.id)
            )
        )


def replay() -> None:
    ((delivery_id,),) = deliveries("id")
    with transaction():
        log.replay(delivery_id)


def test_a_failed_attempt_is_repeated_with_the_same_id_and_a_new_signature(
    client: FlaskClient, company: Company, receiver: Receiver, endpoint: service.NewSecret, clock: Clock
) -> None:
    receiver.answer_with(500, 200)
    review_and_promote(client, company)
    delivery.deliver_due()
    assert deliveries("state", "status_code", "error") == [("pending", 500, "status")]
    assert next_attempt_at() - clock.now <= timedelta(seconds=75), "with the sweep, within 90 seconds"
    delivery.deliver_due()
    assert len(receiver.webhooks) == 1
    clock.now = next_attempt_at()
    delivery.deliver_due()
    first, second = receiver.webhooks
    assert (first.id, first.body) == (second.id, second.body)
    assert first.headers["webhook-timestamp"] < second.headers["webhook-timestamp"]
    assert second.verify(endpoint.secret)
    assert deliveries("state", "attempts", "status_code", "error") == [("delivered", 2, 200, None)]
    assert get_endpoint().failure_count == 0


@pytest.mark.parametrize(
    ("random", "retries"), [(0.0, len(RETRY_DELAYS)), (0.5, len(RETRY_DELAYS)), (1.0, len(RETRY_DELAYS) - 1)]
)
def test_delays_grow_to_about_a_day_and_then_the_delivery_has_failed(
    client: FlaskClient,
    company: Company,
    receiver: Receiver,
    endpoint: service.NewSecret,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    random: float,
    retries: int,
) -> None:
    monkeypatch.setattr("app.webhooks.results.random.random", lambda: random)
    receiver.answer_with(500)
    review_and_promote(client, company)
    started_at, delays = clock.now, []
    while True:
        delivery.deliver_due()
        if deliveries("state") == [("failed",)]:
            break
        delays.append(next_attempt_at() - clock.now)
        clock.now = next_attempt_at()
    assert delays == sorted(delays)
    assert len(delays) == retries, "the last is too late with the longest delays"
    assert timedelta(hours=12) < clock.now - started_at <= timedelta(days=1)
    clock.advance(days=1)
    assert delivery.deliver_due() == 0
    replay()
    delivery.deliver_due()
    assert deliveries("state", "attempts") == [("pending", 1)]


def test_a_day_of_failures_disables_with_a_notice_and_queues_nothing_more(
    client: FlaskClient,
    company: Company,
    receiver: Receiver,
    endpoint: service.NewSecret,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    receiver.answer_with(500)
    for _ in range(11):
        review_and_promote(client, company)
        delivery.deliver_due()
        clock.advance(hours=2, minutes=30)
    assert audit_actions() == ["webhook.created", "webhook.disabled"]
    assert (get_endpoint().disabled_reason, "a webhook endpoint was disabled" in caplog.text) == ("failing", True)
    attempts = len(receiver.webhooks)
    review_and_promote(client, company)
    assert list_rows(Event, "id") == []
    assert (delivery.deliver_due(), len(receiver.webhooks)) == (0, attempts)
    clock.advance(days=1)
    delivery.deliver_due()
    assert set(deliveries("state")) == {("failed",)}


def test_failures_within_a_day_do_not_disable(
    client: FlaskClient, company: Company, receiver: Receiver, endpoint: service.NewSecret
) -> None:
    receiver.answer_with(500)
    review_and_promote(client, company, 20)
    delivery.deliver_due()
    assert (get_endpoint().failure_count, get_endpoint().disabled_at) == (20, None)


def test_gone_disables_at_once_and_enabling_begins_anew(
    client: FlaskClient, company: Company, receiver: Receiver, endpoint: service.NewSecret
) -> None:
    receiver.answer_with(410, 200)
    review_and_promote(client, company)
    delivery.deliver_due()
    assert (get_endpoint().disabled_reason, deliveries("state")) == ("gone", [("failed",)])
    with transaction():
        service.enable_endpoint(get_endpoint().id)
    review_and_promote(client, company)
    delivery.deliver_due()
    assert deliveries("state") == [("delivered",), ("failed",)]
    assert audit_actions() == ["webhook.created", "webhook.disabled", "webhook.enabled"]


def test_a_redirect_is_a_failure_and_is_not_followed(
    client: FlaskClient, company: Company, receiver: Receiver, endpoint: service.NewSecret
) -> None:
    with running_receiver() as other_receiver:
        receiver.answer_with(307)
        receiver.headers = {"Location": other_receiver.url}
        review_and_promote(client, company)
        delivery.deliver_due()
        assert other_receiver.webhooks == []
    assert deliveries("state", "status_code", "error") == [("pending", 307, "redirect")]


def test_a_delivery_is_replayed_with_its_id(
    client: FlaskClient, company: Company, receiver: Receiver, endpoint: service.NewSecret
) -> None:
    review_and_promote(client, company)
    delivery.deliver_due()
    replay()
    delivery.deliver_due()
    first, second = receiver.webhooks
    assert (first.id, first.body) == (second.id, second.body)


def test_a_replay_is_retried_as_a_new_delivery(
    client: FlaskClient, company: Company, receiver: Receiver, endpoint: service.NewSecret, clock: Clock
) -> None:
    review_and_promote(client, company)
    log.queue_deliveries()
    clock.advance(days=2)
    delivery.deliver_due()
    assert (deliveries("state"), receiver.webhooks) == ([("failed",)], [])
    receiver.answer_with(500, 200)
    replay()
    delivery.deliver_due()
    clock.now = next_attempt_at()
    delivery.deliver_due()
    assert deliveries("state", "attempts") == [("delivered", 2)]


def _remove(endpoint: service.NewSecret) -> None:
    with transaction():
        service.remove_endpoint(endpoint.endpoint.id)


def _disable(endpoint: service.NewSecret) -> None:
    with transaction():
        service.disable_endpoint(endpoint.endpoint.environment_id, endpoint.endpoint.id, DisabledReason.FAILING)


@pytest.mark.parametrize("change", [_remove, _disable])
def test_nothing_is_replayed_to_an_endpoint_that_is_gone(
    client: FlaskClient,
    company: Company,
    endpoint: service.NewSecret,
    change: Callable[[service.NewSecret], None],
) -> None:
    review_and_promote(client, company)
    delivery.deliver_due()
    change(endpoint)
    with pytest.raises(Conflict):
        replay()


def test_what_waits_for_its_next_attempt_is_replayed_at_once(
    client: FlaskClient, company: Company, receiver: Receiver, endpoint: service.NewSecret
) -> None:
    review_and_promote(client, company)
    receiver.answer_with(500, 200)
    delivery.deliver_due()
    assert deliveries("state", "attempts") == [("pending", 1)]
    replay()
    delivery.deliver_due()
    assert deliveries("state", "attempts") == [("delivered", 1)]


def test_what_is_being_sent_and_what_is_unknown_are_not_replayed(
    client: FlaskClient, company: Company, endpoint: service.NewSecret
) -> None:
    review_and_promote(client, company)
    log.queue_deliveries()
    with transaction():
        session().execute(text("UPDATE webhook_deliveries SET state = 'sending'"))
    with pytest.raises(Conflict):
        replay()
    with transaction(), pytest.raises(NotFound):
        log.replay(endpoint.endpoint.id)


def test_what_waits_for_a_removed_endpoint_is_given_up(
    client: FlaskClient, company: Company, receiver: Receiver, endpoint: service.NewSecret, clock: Clock
) -> None:
    review_and_promote(client, company)
    log.queue_deliveries()
    _remove(endpoint)
    assert delivery.deliver_due() == 0
    clock.advance(days=1)
    delivery.deliver_due()
    assert (deliveries("state", "error"), receiver.webhooks) == ([("failed", "expired")], [])
