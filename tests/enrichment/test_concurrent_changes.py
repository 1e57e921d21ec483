"""Requests and answers that arrive while their customer is being changed."""

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from flask import Flask
from sqlalchemy import event, select, text

from app.core.database import database, session, transaction
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.customers import locks
from app.customers import service as customers
from app.customers.models import Customer
from app.customers.rules import DECLINED, digest_references
from app.enrichment import revocation
from app.enrichment.models import EnrichmentRequest, Signal
from tests.context_api import PERSONALIZATION, ContextApi, item
from tests.factories import Company


def call_during(app: Flask, company: Company, change: Callable[[], Any], call: Callable[[ContextApi], Any]) -> Any:
    """Call after a change was made and before it is committed; returns the response."""
    responses: list[Any] = []
    thread = threading.Thread(target=lambda: responses.append(call(ContextApi(app.test_client(), company))))
    with transaction():
        change()
        thread.start()
        deadline = time.monotonic() + 10
        waiting_locks = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        while thread.is_alive() and not session().execute(waiting_locks).scalar_one() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert thread.is_alive(), "it did not wait for the change"
    thread.join(30)
    return responses[0]


def refuse(company: Company) -> None:
    """Record the refusal of the only customer, as the dashboard of a product would."""
    product_id, customer_id = company.product_id, session().scalars(select(Customer.id)).one()
    locks.lock(product_id, customer_id)
    customers.choose(product_id, customer_id, PERSONALIZATION, DECLINED)
    revocation.revoke(product_id, customer_id, PERSONALIZATION)


def link(company: Company) -> None:
    """Link the visitor v1 to the user u1, as a call that names both does."""
    keys = pepper_ring().derive_all(Purpose.CUSTOMER_REFERENCES, company.product_id)
    customers.resolve(company.product_id, digest_references(keys, None, "u1", "v1"))


def test_a_request_that_waited_for_a_refusal_is_declined(app: Flask, context_api: ContextApi, company: Company) -> None:
    context_api.ask(userRef="u1")
    response = call_during(app, company, lambda: refuse(company), lambda api: api.ask(userRef="u1"))
    assert response.json["state"] == "declined"
    assert response.json["submit"] is None


def test_a_request_that_waited_for_a_link_belongs_to_the_linked_customer(
    app: Flask, context_api: ContextApi, company: Company
) -> None:
    context_api.ask(anonymousRef="v1")
    response = call_during(app, company, lambda: link(company), lambda api: api.ask(anonymousRef="v1"))
    assert response.status_code == 200
    with transaction():
        customer_ids = session().scalars(select(EnrichmentRequest.customer_id)).all()
        assert customer_ids == [*session().scalars(select(Customer.id)).all()] * 2


def test_an_answer_that_waited_for_a_refusal_stores_nothing(
    app: Flask, context_api: ContextApi, company: Company
) -> None:
    request = context_api.ask(userRef="u1").json
    response = call_during(app, company, lambda: refuse(company), lambda api: api.answer(request, item(remember=True)))
    assert (response.status_code, response.json["code"]) == (403, "opted_out")
    with transaction():
        assert session().scalars(select(Signal.id)).all() == []


def test_an_answer_that_waited_for_a_link_belongs_to_the_linked_customer(
    app: Flask, context_api: ContextApi, company: Company
) -> None:
    request = context_api.ask(anonymousRef="v1").json
    response = call_during(app, company, lambda: link(company), lambda api: api.answer(request, item(remember=True)))
    assert response.status_code == 200
    with transaction():
        assert session().scalars(select(Signal.customer_id)).all() == session().scalars(select(Customer.id)).all()


def test_a_known_customer_is_asked_and_answers_without_a_session(context_api: ContextApi) -> None:
    references = {"userRef": f"u{uuid.uuid4()}", "anonymousRef": f"v{uuid.uuid4()}"}
    context_api.ask(**references)
    checkouts: list[Any] = []
    event.listen(database().sessions, "checkout", lambda *arguments: checkouts.append(arguments))
    request = context_api.ask(**references).json
    assert context_api.answer(request, item(remember=True)).status_code == 200
    assert context_api.inspect(request).json["state"] == "answered"
    assert checkouts == []
