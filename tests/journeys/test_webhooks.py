"""Webhooks and exported reviews of a running service whose worker is killed."""

import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg2
import pytest

from tests.evaluations.collector import Collector
from tests.journeys.load import Sender
from tests.journeys.stack import Stack, wait_until
from tests.webhooks.receiver import ReceivedWebhook, Receiver, running_receiver

KILLS = 3


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as receiver:
        yield receiver


@pytest.fixture
def endpoint(stack: Stack, receiver: Receiver) -> Iterator[Any]:
    """An endpoint that takes reviews, with its secret."""
    of_environment = ["--environment", str(stack.company.environment_id)]
    endpoint = stack.flask("webhook", "create", *of_environment, "--url", receiver.url, "--event", "review.created")
    yield endpoint
    stack.flask("webhook", "remove", endpoint["endpointId"])


def end_leases(stack: Stack) -> None:
    """Let the leases of a killed worker end now, in place of after a minute."""
    with closing(psycopg2.connect(stack.database_url)) as connection, connection, connection.cursor() as cursor:
        cursor.execute("UPDATE webhook_deliveries SET next_attempt_at = now() WHERE state = 'sending'")
        cursor.execute("UPDATE events SET leased_until = NULL")


def test_a_worker_that_is_killed_while_it_sends_sends_again(stack: Stack, receiver: Receiver, endpoint: Any) -> None:
    release = threading.Event()

    def answer_late(_: ReceivedWebhook) -> int:
        release.wait(30)
        return 200

    receiver.answer = answer_late
    sender = Sender(stack.url, stack.company)
    assert sender.send_review() == 200
    wait_until(lambda: receiver.webhooks, 20)
    with stack.stop_process("worker"):
        release.set()
    end_leases(stack)
    wait_until(lambda: len(receiver.webhooks) == 2, 30)
    first, second = receiver.webhooks
    assert (first.id, first.body) == (second.id, second.body)
    payload = second.verify(endpoint["secret"])
    assert {payload["data"]["interactionId"]: payload["data"]["id"]} == sender.accepted_reviews

    wait_until(lambda: stack.value("SELECT bool_and(state = 'delivered') FROM webhook_deliveries"), 10)
    (delivery,) = stack.flask(
        "webhook",
        "deliveries",
        "--environment",
        str(stack.company.environment_id),
        "--endpoint",
        endpoint["endpointId"],
    )
    assert (delivery["webhookId"], delivery["attempts"], delivery["statusCode"]) == (first.id, 2, 200)


def test_kills_at_any_moment_lose_no_review(
    stack: Stack, receiver: Receiver, endpoint: Any, collector: Collector
) -> None:
    sender = Sender(stack.url, stack.company)
    for _ in range(KILLS):
        for _ in range(15):
            assert sender.send_review(str(uuid.uuid4())) == 200
        with stack.stop_process("worker"):
            time.sleep(0.1)
    end_leases(stack)
    webhook_ids: dict[str, set[str]] = defaultdict(set)

    def has_everything_arrived() -> bool:
        for webhook in list(receiver.webhooks):
            data = webhook.verify(endpoint["secret"])["data"]
            webhook_ids[data["interactionId"]].add(webhook.id)
        return webhook_ids.keys() >= sender.accepted_reviews.keys()

    wait_until(has_everything_arrived, 40)
    assert webhook_ids.keys() == sender.accepted_reviews.keys()
    assert all(len(ids) == 1 for ids in webhook_ids.values()), "one event of each review"

    def exported_reviews() -> dict[str, str]:
        attributes = [attributes for _, attributes in collector.records()]
        return {entry["gen_ai.response.id"]: entry["log.record.uid"] for entry in attributes}

    wait_until(lambda: exported_reviews().items() >= sender.accepted_reviews.items(), 40)
    wait_until(lambda: stack.value("SELECT count(*) FROM events") == 0, 10)
