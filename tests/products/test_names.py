"""A product has one name of its own in its workspace, and so has an environment in its product."""

import threading
import uuid
from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.models import AuditEntry
from app.core.database import session, transaction
from app.core.errors import Unprocessable
from app.products import service as products
from app.products.models import Environment, Product
from tests.factories import Company, create_company

Create = Callable[[uuid.UUID, str], Product | Environment]


def names(company: Company) -> list[str]:
    """Return the names of all products of a workspace and of their environments."""
    with transaction():
        rows = (
            products.list_products(company.workspace_id),
            products.list_environments(workspace_id=company.workspace_id),
        )
        return sorted(row.name for group in rows for row in group)


def count_entries() -> int:
    with transaction():
        return len(session().scalars(select(AuditEntry.id)).all())


@pytest.mark.parametrize("name", ["Example product", " Example product\n"])
def test_a_second_product_of_a_name_is_refused(company: Company, name: str) -> None:
    entries = count_entries()
    with transaction(), pytest.raises(Unprocessable, match="already has a product “Example product”"):
        products.create_product(company.workspace_id, name)
    assert (names(company), count_entries()) == (["Example product", "production"], entries)


def test_a_second_environment_of_a_name_is_refused(company: Company) -> None:
    entries = count_entries()
    with transaction(), pytest.raises(Unprocessable, match="already has an environment “production”"):
        products.create_environment(company.product_id, "production")
    assert (names(company), count_entries()) == (["Example product", "production"], entries)


def test_nothing_is_renamed_to_the_name_of_another(company: Company) -> None:
    with transaction():
        product_id = products.create_product(company.workspace_id, "Shop").id
        environment_id = products.create_environment(company.product_id, "staging").id
    with transaction(), pytest.raises(Unprocessable, match="Choose another name"):
        products.rename_product(product_id, "Example product")
    with transaction(), pytest.raises(Unprocessable, match="Choose another name"):
        products.rename_environment(environment_id, "production")
    assert names(company) == ["Example product", "Shop", "production", "staging"]


def test_names_of_other_workspaces_and_products_are_free(company: Company) -> None:
    with transaction():
        create_company()
        product = products.create_product(company.workspace_id, "Shop")
        products.create_environment(product.id, "production")
        products.rename_product(product.id, "example product")
    assert names(company) == ["Example product", "example product", "production", "production"]


def test_what_has_the_name_of_another_already_keeps_it(company: Company) -> None:
    with transaction():
        product = products.create_product(company.workspace_id, "Shop")
        environment = products.create_environment(company.product_id, "staging")
        product.name, environment.name = "Example product", "production"
    with transaction():
        products.rename_product(product.id, "Example product")
        products.rename_environment(environment.id, "production")
    assert names(company) == ["Example product", "Example product", "production", "production"]


@pytest.mark.parametrize(
    ("create", "place"),
    [(products.create_product, "workspace_id"), (products.create_environment, "product_id")],
    ids=["product", "environment"],
)
def test_of_two_that_are_added_at_the_same_time_one_gets_the_name(
    app: Flask, company: Company, create: Create, place: str
) -> None:
    is_started, errors = threading.Event(), []

    def create_too() -> None:
        with app.app_context(), transaction():
            is_started.set()
            try:
                create(getattr(company, place), "twice")
            except Unprocessable as error:
                errors.append(error)

    thread = threading.Thread(target=create_too)
    with transaction():
        create(getattr(company, place), "twice")
        thread.start()
        assert is_started.wait(timeout=10)
        thread.join(0.3)
        assert thread.is_alive(), "the second transaction waits for the first"
    thread.join(timeout=10)
    assert len(errors) == 1
    assert names(company).count("twice") == 1
