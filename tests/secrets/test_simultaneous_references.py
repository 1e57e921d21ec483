"""The same references at the same time, while their digests are renewed."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.core.purposes import PepperRing, Purpose
from app.customers import service as customers
from app.customers.models import Customer, CustomerReference
from app.customers.rules import digest_references
from tests.factories import Company
from tests.secrets.app_secrets import AppSecrets, rotation

THREADS = 8


@pytest.fixture
def app_secrets(app: Flask) -> Iterator[AppSecrets]:
    with rotation(app) as secrets:
        yield secrets


def count(model: Any) -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(model)) or 0


@pytest.mark.parametrize(
    "references",
    [(None, "u1", None), ("a1", "u1", None), ("a1", None, None), (None, None, "n1"), ("a1", "u1", "n1")],
)
@pytest.mark.parametrize("is_known", [True, False])
def test_references_that_come_at_once_name_one_customer(
    app: Flask,
    company: Company,
    app_secrets: AppSecrets,
    references: tuple[str | None, str | None, str | None],
    is_known: bool,
) -> None:
    """Half of the requests are served by a process whose ring is in the other order."""
    rings = [[app_secrets.new_pepper, app_secrets.old_pepper], [app_secrets.old_pepper, app_secrets.new_pepper]]
    start = threading.Barrier(THREADS)

    def resolve(peppers: list[str]) -> Any:
        secrets = [pepper.encode() for pepper in peppers]
        keys = PepperRing(secrets).derive_all(Purpose.CUSTOMER_REFERENCES, company.product_id)
        with transaction():
            return customers.resolve(company.product_id, digest_references(keys, *references)).customer_id

    def resolve_at_once(number: int) -> Any:
        with app.app_context():
            start.wait()
            return resolve(rings[number % 2])

    if is_known:
        resolve([app_secrets.old_pepper])
    app_secrets.configure(rings[0])
    with ThreadPoolExecutor(THREADS) as pool:
        customer_ids = set(pool.map(resolve_at_once, range(THREADS)))
    assert len(customer_ids) == count(Customer) == 1
    named = sum(1 for reference in references if reference is not None)
    is_user_of_account = references[0] is not None and references[1] is not None
    assert count(CustomerReference) == named - is_user_of_account
