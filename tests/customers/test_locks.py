"""Locking a customer who may be linked or erased before the lock is held."""

import threading
import uuid
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.core.database import session, transaction
from app.customers import locks
from app.customers.locks import CustomerGone
from app.customers.models import Customer
from tests.context_api import ContextApi
from tests.factories import Company


def customer_id_of(context_api: ContextApi, **references: str) -> uuid.UUID:
    """Create a customer and return its id."""
    assert context_api.ask(**references).status_code == 200
    with transaction():
        return session().scalars(select(Customer.id).order_by(Customer.created_at.desc()).limit(1)).one()


def test_a_customer_that_is_linked_before_the_lock_is_looked_up_again(context_api: ContextApi) -> None:
    customer_id = customer_id_of(context_api, userRef="u1")
    customer_ids = iter([uuid.uuid4(), customer_id, customer_id])
    with transaction():
        assert locks.lock_current(context_api.company.product_id, lambda: next(customer_ids)) == customer_id


def test_a_customer_that_changes_under_the_lock_is_looked_up_again(context_api: ContextApi) -> None:
    first, second = customer_id_of(context_api, userRef="u1"), customer_id_of(context_api, userRef="u2")
    customer_ids = iter([first, second, second, second])
    with transaction():
        assert locks.lock_current(context_api.company.product_id, lambda: next(customer_ids)) == second


def test_nobody_is_locked_where_there_is_no_customer(context_api: ContextApi) -> None:
    with transaction():
        assert locks.lock_current(context_api.company.product_id, lambda: None) is None


@pytest.mark.parametrize("is_for_removal", [False, True])
def test_a_customer_that_does_not_exist_is_gone(context_api: ContextApi, *, is_for_removal: bool) -> None:
    with transaction(), pytest.raises(CustomerGone):
        locks.lock_current(context_api.company.product_id, lambda: uuid.UUID(int=1), is_for_removal=is_for_removal)


def test_a_retrieval_does_not_wait_for_a_writer(app: Flask, context_api: ContextApi, company: Company) -> None:
    customer_id = customer_id_of(context_api, userRef="u1")
    responses: list[Any] = []
    thread = threading.Thread(
        target=lambda: responses.append(ContextApi(app.test_client(), company).retrieve(userRef="u1").status_code)
    )
    with transaction():
        locks.lock(company.product_id, customer_id)
        thread.start()
        thread.join(30)
        assert responses == [200]
