"""From the inbox to interactions, also when something is in the way."""

import threading
import uuid
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, text

from app.core.database import database, session, transaction
from app.interactions.models import Interaction
from app.interactions.service import find_interaction
from app.telemetry import persistence
from app.telemetry.models import WaitingBatch
from tests.factories import Company, event, send_events


def stored_row(company: Company, interaction_id: object) -> dict[str, Any]:
    with transaction():
        row = find_interaction(company.environment_id, uuid.UUID(str(interaction_id)))
    assert row is not None
    return row


def count_interactions() -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(Interaction)) or 0


def add_broken_batch(company: Company) -> None:
    with transaction():
        statement = (
            "INSERT INTO telemetry_inbox (environment_id, received_at, events, event_count) "
            'VALUES (:e, now(), \'[{"interactionId": "broken"}]\', 1)'
        )
        session().execute(text(statement), {"e": company.environment_id})


def list_parked() -> list[bool]:
    with transaction():
        batches = session().scalars(select(WaitingBatch).order_by(WaitingBatch.id)).all()
    return [batch.parked_at is not None for batch in batches]


def test_a_batch_that_cannot_be_persisted_does_not_hold_up_the_others(client: FlaskClient, company: Company) -> None:
    send_events(client, company, event())
    add_broken_batch(company)
    send_events(client, company, event())
    persistence.persist_waiting_batches()
    assert (count_interactions(), list_parked()) == (2, [True])


def test_no_innocent_batch_is_parked_while_another_worker_holds_the_broken_one(
    app: Flask, client: FlaskClient, company: Company
) -> None:
    add_broken_batch(company)
    send_events(client, company, event())
    with database().sessions.connect() as connection:
        connection.execute(text("SELECT 1 FROM telemetry_inbox ORDER BY id LIMIT 1 FOR UPDATE"))
        persistence.persist_waiting_batches()
        connection.rollback()
    assert (count_interactions(), list_parked()) == (1, [False])
    persistence.persist_waiting_batches()
    assert list_parked() == [True]


@pytest.mark.parametrize("offset", ["+15:59", "+16:00", "+23:59", "-23:59"])
def test_every_offset_can_be_stored(client: FlaskClient, company: Company, offset: str) -> None:
    interaction = event(occurredAt=f"2026-01-31T12:00:00{offset}")
    assert send_events(client, company, interaction).status_code == 202
    persistence.persist_waiting_batches()
    hours, minutes = int(offset[:3]), int(offset[0] + offset[4:])
    moment = stored_row(company, interaction["interactionId"])["occurred_at"]
    assert (moment.hour * 60 + moment.minute) == (12 * 60 - hours * 60 - minutes) % (24 * 60)


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00"])
def test_the_ends_of_time_can_be_stored_in_every_offset(client: FlaskClient, company: Company, moment: str) -> None:
    send_events(client, company, event(occurredAt=moment))
    persistence.persist_waiting_batches()
    assert (count_interactions(), list_parked()) == (1, [])


def test_the_first_event_of_an_interaction_stays_over_many_batches(client: FlaskClient, company: Company) -> None:
    ids = [str(uuid.uuid4()) for _ in range(60)]
    for number in range(40):
        send_events(client, company, *(event(interaction_id, operation=f"/page-{number}") for interaction_id in ids))
    persistence.persist_waiting_batches()
    with transaction():
        assert set(session().scalars(select(Interaction.operation))) == {"/page-0"}


def test_an_event_that_claims_another_surface_confirms_nothing(client: FlaskClient, company: Company) -> None:
    interaction_id = str(uuid.uuid4())
    send_events(client, company, event(interaction_id), event(interaction_id, surface="mcp"))
    send_events(client, company, event(interaction_id, surface="mcp", statusCode=200))
    persistence.persist_waiting_batches()
    row = stored_row(company, interaction_id)
    assert (row["surface"], row["classification"], row["confirmed_by"]) == ("http_json", "unclassified", None)
    assert row["status_code"] == 200


def test_one_repeated_id_rewrites_no_other_row(client: FlaskClient, company: Company) -> None:
    repeated_event = event()
    send_events(client, company, *(event() for _ in range(50)), repeated_event, {**repeated_event, "statusCode": 200})
    persistence.persist_waiting_batches()
    with transaction():
        # Every statement of a transaction leaves its own number on the rows that it wrote.
        by_statement = "SELECT count(*) FROM interactions GROUP BY cmin::text ORDER BY 1"
        row_versions = session().scalars(text(by_statement)).all()
    assert (row_versions, stored_row(company, repeated_event["interactionId"])["status_code"]) == ([1, 50], 200)


def test_workers_that_meet_in_the_same_rows_do_not_stop_each_other(app: Flask, company: Company) -> None:
    ids = [str(uuid.uuid4()) for _ in range(80)]
    failures: list[BaseException] = []

    def work(number: int) -> None:
        with app.app_context():
            try:
                for round_number in range(6):
                    interaction_ids = ids[number % 3 :: 2] if round_number % 2 else ids[::-1]
                    interactions = [
                        event(interaction_id, sessionRef=f"visit-{round_number}")
                        for interaction_id in interaction_ids[:60]
                    ]
                    send_events(app.test_client(), company, *interactions)
                    persistence.persist_waiting_batches()
            except BaseException as error:  # the test reports it
                failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert count_interactions() == 80
