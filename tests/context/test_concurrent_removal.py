"""A retrieval at the instant at which its customer is erased or linked."""

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.context.models import ContextRetrieval
from app.core.database import session, transaction
from app.customers import service as customers
from app.customers.models import Customer
from app.retention import customers as retention
from tests.context_api import PERSONALIZATION, ContextApi, item
from tests.factories import Company


def answer(context_api: ContextApi, **references: str) -> Any:
    request = context_api.ask(**references).json
    assert context_api.answer(request, item(remember=True)).status_code == 200
    return request


def customer_ids() -> set[uuid.UUID]:
    with transaction():
        return set(session().scalars(select(Customer.id)))


def retrieval_customer_ids() -> list[uuid.UUID | None]:
    with transaction():
        return list(session().scalars(select(ContextRetrieval.customer_id)))


def retrieve_during(app: Flask, company: Company, change: Callable[[], Any], **query: str) -> Any:
    """Retrieve after a change was made and before it is committed; returns the answer."""
    responses: list[Any] = []
    thread = threading.Thread(
        target=lambda: responses.append(ContextApi(app.test_client(), company).retrieve(PERSONALIZATION, **query))
    )
    with transaction():
        change()
        thread.start()
        deadline = time.monotonic() + 10
        waiting_locks = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        while thread.is_alive() and not session().execute(waiting_locks).scalar_one() and time.monotonic() < deadline:
            time.sleep(0.01)
    thread.join(30)
    (response,) = responses
    assert response.status_code == 200, response.data
    return response.json


def erase(context_api: ContextApi, **options: bool) -> Callable[[], Any]:
    product_id = context_api.company.product_id
    return lambda: retention.erase(product_id, retention.digest(product_id, None, "u1", None), **options)


@pytest.mark.parametrize("by_interaction", [False, True])
def test_a_retrieval_during_an_erasure_leaves_nothing_of_the_customer(
    app: Flask, context_api: ContextApi, *, by_interaction: bool
) -> None:
    request = answer(context_api, userRef="u1")
    query = {"interactionId": request["interactionId"]} if by_interaction else {"userRef": "u1"}
    context = retrieve_during(app, context_api.company, erase(context_api), **query)
    assert context["items"] == []
    assert retrieval_customer_ids() == [None]


def test_a_retrieval_during_an_erasure_that_keeps_a_refusal_shows_nothing_erased(
    app: Flask, context_api: ContextApi
) -> None:
    answer(context_api, userRef="u1")
    advertising = context_api.ask(userRef="u1", purpose="targeted_advertising").json
    assert context_api.choose(advertising, "declined").status_code == 200
    previous_ids = customer_ids()
    context = retrieve_during(app, context_api.company, erase(context_api), userRef="u1")
    assert context["items"] == []
    assert customer_ids() == previous_ids
    assert context_api.ask(userRef="u1", purpose="targeted_advertising").json["state"] == "declined"


def test_a_second_erasure_finds_what_was_retrieved_since_the_first(context_api: ContextApi) -> None:
    answer(context_api, userRef="u1")
    advertising = context_api.ask(userRef="u1", purpose="targeted_advertising").json
    context_api.choose(advertising, "declined")
    with transaction():
        erase(context_api)()
    context_api.retrieve(userRef="u1")
    with transaction():
        assert erase(context_api)() == 1
    assert retrieval_customer_ids() == []


def test_a_retrieval_during_a_link_belongs_to_the_linked_customer(app: Flask, context_api: ContextApi) -> None:
    answer(context_api, anonymousRef="n1")
    context = retrieve_during(
        app, context_api.company, lambda: _link_in_this_transaction(context_api), anonymousRef="n1"
    )
    assert [entry["value"] for entry in context["items"]] == ["quiet_boutique"]
    assert len(customer_ids()) == 1
    assert set(retrieval_customer_ids()) == customer_ids()


def _link_in_this_transaction(context_api: ContextApi) -> None:
    product_id = context_api.company.product_id
    identity = customers.resolve(product_id, retention.digest(product_id, None, "u1", "n1"))
    assert identity.has_been_linked


def test_what_is_retrieved_by_interaction_after_its_request_has_left_is_erased_too(context_api: ContextApi) -> None:
    request = answer(context_api, userRef="u1")
    with transaction():
        session().execute(text("DELETE FROM enrichment_requests"))
    assert context_api.context_values(interactionId=request["interactionId"]) == {"travel.stay_style": "quiet_boutique"}
    with transaction():
        erase(context_api)()
    assert retrieval_customer_ids() == []
