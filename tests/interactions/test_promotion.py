"""Promotion: from a row of the outbox to a confirmed interaction."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.interactions import service as interactions
from app.interactions.models import Interaction, Promotion
from app.telemetry import persistence
from tests.factories import Company, create_company, event, send_events, send_review


def count(table: type[Interaction] | type[Promotion], **filters: str) -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(table).filter_by(**filters)) or 0


def test_promotion_is_one_way(client: FlaskClient, company: Company) -> None:
    interaction_id = str(uuid.uuid4())
    send_review(client, company.capability(interaction_id))
    interactions.promote_queued_interactions()
    send_events(client, company, event(interaction_id, classification="unclassified"))
    persistence.persist_waiting_batches()
    assert count(Interaction, classification="confirmed", confirmed_by="review") == 1


def test_promoting_again_changes_nothing(client: FlaskClient, company: Company) -> None:
    send_review(client, company.capability())
    assert interactions.promote_queued_interactions() == 1
    assert interactions.promote_queued_interactions() == 0
    assert count(Interaction) == 1


def test_an_mcp_interaction_stays_confirmed_by_its_surface(client: FlaskClient, company: Company) -> None:
    interaction_id = str(uuid.uuid4())
    send_events(client, company, event(interaction_id, surface="mcp"))
    persistence.persist_waiting_batches()
    send_review(client, company.capability(interaction_id))
    interactions.promote_queued_interactions()
    assert count(Interaction, confirmed_by="mcp") == 1


def test_only_the_reviewed_interaction_is_promoted(client: FlaskClient, company: Company) -> None:
    with transaction():
        other_company = create_company()
    interaction_id = str(uuid.uuid4())
    send_events(client, company, event(interaction_id), event())
    send_events(client, other_company, event(interaction_id))
    persistence.persist_waiting_batches()
    send_review(client, company.capability(interaction_id))
    interactions.promote_queued_interactions()
    assert count(Interaction, classification="confirmed") == 1
    assert count(Interaction, classification="unclassified") == 2


def test_more_outbox_rows_than_a_batch_are_all_promoted(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interactions, "BATCH_SIZE", 3)
    for _ in range(8):
        send_review(client, company.capability())
    assert interactions.promote_queued_interactions() == 8
    assert (count(Promotion), count(Interaction, classification="confirmed")) == (0, 8)


def test_jobs_beside_each_other_lose_and_double_nothing(app: Flask, company: Company) -> None:
    ids = [str(uuid.uuid4()) for _ in range(60)]
    start = threading.Barrier(6)

    def work(number: int) -> None:
        with app.app_context():
            start.wait()
            for interaction_id in ids[number::3]:
                send_events(app.test_client(), company, event(interaction_id, statusCode=200))
                send_review(app.test_client(), company.capability(interaction_id))
                persistence.persist_waiting_batches()
                interactions.promote_queued_interactions()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    persistence.persist_waiting_batches()
    interactions.promote_queued_interactions()
    assert count(Interaction, classification="confirmed", surface="http_json") == 60
    assert (count(Interaction), count(Promotion)) == (60, 0)
