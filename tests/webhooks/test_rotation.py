"""Rotation of an endpoint's secret: which secrets sign, and until when."""

from datetime import UTC, datetime

import pytest
from flask.testing import FlaskClient
from standardwebhooks import Webhook

from app.core.database import transaction
from app.core.errors import Conflict
from app.webhooks import delivery, due, log, service
from app.webhooks.rules import MAX_OVERLAP_HOURS
from tests.context_api import Clock
from tests.factories import Company
from tests.webhooks.outbox import get_endpoint
from tests.webhooks.receiver import ReceivedWebhook, Receiver
from tests.webhooks.test_delivery import review_and_promote


def received_signatures(webhook: ReceivedWebhook) -> list[str]:
    return webhook.headers["webhook-signature"].split(" ")


def signatures(webhook: ReceivedWebhook, *secrets: str) -> list[str]:
    """Sign a webhook with each secret; a receiver's library refuses one of a clock that was advanced."""
    sent_at = datetime.fromtimestamp(int(webhook.headers["webhook-timestamp"]), UTC)
    return [Webhook(secret).sign(webhook.id, sent_at, webhook.body.decode()) for secret in secrets]


def test_both_secrets_sign_until_the_overlap_has_passed(
    client: FlaskClient, company: Company, receiver: Receiver, endpoint: service.NewSecret, clock: Clock
) -> None:
    with transaction():
        new = service.rotate_secret(endpoint.endpoint.id, 24)
    review_and_promote(client, company)
    delivery.deliver_due()
    (webhook,) = receiver.webhooks
    assert webhook.verify(endpoint.secret) == webhook.verify(new.secret)
    assert len(webhook.headers["webhook-signature"].split(" ")) == 2
    clock.advance(hours=24)
    review_and_promote(client, company)
    delivery.deliver_due()
    assert len(receiver.webhooks[1].headers["webhook-signature"].split(" ")) == 1
    assert get_endpoint().sealed_old_secret is None


def test_an_overlap_that_ends_while_the_job_runs_is_over(
    client: FlaskClient, company: Company, endpoint: service.NewSecret, clock: Clock
) -> None:
    with transaction():
        service.rotate_secret(endpoint.endpoint.id, 1)
    review_and_promote(client, company)
    log.queue_deliveries()
    clock.advance(hours=1)
    (due_delivery,) = due.claim_due(1, {}, is_failing=False)
    assert due_delivery.request
    assert len(due_delivery.request.headers["webhook-signature"].split(" ")) == 1


def test_without_an_overlap_only_the_new_secret_signs(
    client: FlaskClient, company: Company, receiver: Receiver, endpoint: service.NewSecret
) -> None:
    with transaction():
        new = service.rotate_secret(endpoint.endpoint.id, 0)
    review_and_promote(client, company)
    delivery.deliver_due()
    assert receiver.webhooks[0].verify(new.secret)
    with pytest.raises(Exception, match="No matching signature"):
        receiver.webhooks[0].verify(endpoint.secret)


def test_an_old_secret_signs_for_as_long_as_was_announced(
    client: FlaskClient, company: Company, receiver: Receiver, endpoint: service.NewSecret, clock: Clock
) -> None:
    with transaction():
        second = service.rotate_secret(endpoint.endpoint.id, 24)
        expires_at = second.endpoint.old_secret_expires_at
    clock.advance(hours=23)
    with pytest.raises(Conflict) as refusal, transaction():
        service.rotate_secret(endpoint.endpoint.id, 1)
    assert f"signs until {expires_at:%Y-%m-%dT%H:%M:%SZ}." in str(refusal.value)
    review_and_promote(client, company)
    delivery.deliver_due()
    assert signatures(receiver.webhooks[0], second.secret, endpoint.secret) == received_signatures(receiver.webhooks[0])
    clock.advance(hours=1)
    with transaction():
        third = service.rotate_secret(endpoint.endpoint.id, 24)
    review_and_promote(client, company)
    delivery.deliver_due()
    assert signatures(receiver.webhooks[1], third.secret, second.secret) == received_signatures(receiver.webhooks[1])


def test_a_rotation_without_an_overlap_ends_all_older_secrets_at_once(
    client: FlaskClient, company: Company, receiver: Receiver, endpoint: service.NewSecret
) -> None:
    with transaction():
        second = service.rotate_secret(endpoint.endpoint.id, 24)
        third = service.rotate_secret(endpoint.endpoint.id, 0)
    review_and_promote(client, company)
    delivery.deliver_due()
    (webhook,) = receiver.webhooks
    assert webhook.verify(third.secret)
    for secret in (endpoint.secret, second.secret):
        with pytest.raises(Exception, match="No matching signature"):
            webhook.verify(secret)


@pytest.mark.parametrize("overlap_hours", [-1, MAX_OVERLAP_HOURS + 1])
def test_an_overlap_has_bounds(endpoint: service.NewSecret, overlap_hours: int) -> None:
    with transaction(), pytest.raises(Exception, match="overlap takes"):
        service.rotate_secret(endpoint.endpoint.id, overlap_hours)
