"""A session belongs to its customer, also when telemetry names the customer later."""

import uuid

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from app.core.database import session, transaction
from app.interactions.models import InteractionSession
from app.telemetry import persistence
from tests.factories import Company, event, send_events


def sessions() -> list[tuple[str, str, str]]:
    with transaction():
        rows = session().scalars(
            select(InteractionSession).order_by(InteractionSession.customer_ref, InteractionSession.source)
        )
        return [(row.source, row.ref, row.customer_ref) for row in rows]


@pytest.mark.parametrize("is_one_batch", [True, False])
def test_a_customer_who_is_named_later_takes_the_session_along(
    client: FlaskClient, company: Company, is_one_batch: bool
) -> None:
    interaction_id = str(uuid.uuid4())
    send_events(client, company, event(interaction_id, sessionRef="visit"))
    if not is_one_batch:
        persistence.persist_waiting_batches()
        assert sessions() == [("", "visit", "")]
    send_events(client, company, event(interaction_id, customerRef="account_42"))
    persistence.persist_waiting_batches()
    assert sessions() == [("", "visit", "account_42")]


def test_a_source_that_is_named_later_takes_the_session_along(client: FlaskClient, company: Company) -> None:
    interaction_id = str(uuid.uuid4())
    send_events(client, company, event(interaction_id, sessionRef="visit"))
    send_events(client, company, event(interaction_id, sessionSource="customer"))
    persistence.persist_waiting_batches()
    assert sessions() == [("customer", "visit", "")]


def test_a_session_stays_while_another_interaction_belongs_to_it(client: FlaskClient, company: Company) -> None:
    interaction_id = str(uuid.uuid4())
    send_events(client, company, event(interaction_id, sessionRef="visit"), event(sessionRef="visit"))
    persistence.persist_waiting_batches()
    send_events(client, company, event(interaction_id, customerRef="account_42"))
    persistence.persist_waiting_batches()
    assert sessions() == [("", "visit", ""), ("", "visit", "account_42")]
