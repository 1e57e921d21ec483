"""Erase customers with their references and choices."""

import uuid

from sqlalchemy import Delete, Table, TextClause, delete

from app.core.database import session
from app.core.database.deletion import delete_batch, delete_rows
from app.customers.models import Customer, CustomerChoice, CustomerReference
from app.customers.rules import DECLINED
from app.customers.service import list_declined
from app.customers.tables import tables_of_customers


def erase(product_id: uuid.UUID, customer_id: uuid.UUID, *, forgets_refusals: bool) -> tuple[int, bool]:
    """Remove every row of a customer that is locked for removal; returns how many, and whether a refusal remains.

    A refusal stays, with the references that it is found by, unless it is to be forgotten too.
    """
    row_count = sum(delete_rows(_of_customer(table, product_id, customer_id)) for table in tables_of_customers())
    choices = _of_customer(_table(CustomerChoice), product_id, customer_id)
    row_count += delete_rows(choices if forgets_refusals else choices.where(CustomerChoice.decision != DECLINED))
    keeps_refusal = bool(list_declined(product_id, customer_id))
    if keeps_refusal:
        _replace(product_id, customer_id)
    else:
        row_count += delete_rows(_of_customer(_table(CustomerReference), product_id, customer_id))
        row_count += delete_rows(delete(Customer).where(Customer.product_id == product_id, Customer.id == customer_id))
    return row_count, keeps_refusal


def idle_deletion(condition: str) -> TextClause:
    """Return the statement that removes a batch of customers who declined nothing and were last seen before `:before`.

    `condition` is SQL about a row of `customers`: that no other package has a row which keeps it.
    """
    follow_ups = [
        f"DELETE FROM {table} WHERE product_id = :product_id AND customer_id IN (SELECT id FROM removed_rows)"
        for table in (CustomerReference.__tablename__, CustomerChoice.__tablename__)
    ]
    idle = """
        product_id = :product_id AND last_seen_at < :before AND NOT EXISTS (
            SELECT FROM customer_choices c
            WHERE c.product_id = customers.product_id AND c.customer_id = customers.id AND c.decision = 'declined'
        )
    """
    key = ("product_id", "id")
    return delete_batch("customers", key, f"{idle} AND {condition}", order_by="id", follow_ups=follow_ups)


def _of_customer(table: Table, product_id: uuid.UUID, customer_id: uuid.UUID) -> Delete:
    return delete(table).where(table.c.product_id == product_id, table.c.customer_id == customer_id)


def _table(model: type[CustomerChoice] | type[CustomerReference]) -> Table:
    table = model.__table__
    assert isinstance(table, Table)
    return table


def _replace(product_id: uuid.UUID, customer_id: uuid.UUID) -> None:
    """Put a new row in the place of the old one: a retrieval that waits for the lock finds the old one gone."""
    customer = session().get_one(Customer, (product_id, customer_id), populate_existing=True)
    created_at, last_seen_at = customer.created_at, customer.last_seen_at
    session().delete(customer)
    session().flush()
    session().add(Customer(product_id=product_id, id=customer_id, created_at=created_at, last_seen_at=last_seen_at))
    session().flush()
