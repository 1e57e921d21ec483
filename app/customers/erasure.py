"""Erase customers with their references and choices."""

import uuid

from sqlalchemy import CursorResult, Delete, Table, delete, text

from app.core.database import session
from app.customers.models import Customer, CustomerChoice, CustomerReference
from app.customers.rules import DECLINED
from app.customers.service import list_declined, tables_of_customers

# A new row in the place of the old one: a retrieval that waits for the lock finds the old one gone and looks again.
_REPLACE = text("""
    WITH replaced AS (
        DELETE FROM customers WHERE product_id = :product_id AND id = :customer_id RETURNING *
    )
    SELECT created_at, last_seen_at FROM replaced
""")


def erase(product_id: uuid.UUID, customer_id: uuid.UUID, *, forgets_refusals: bool) -> tuple[int, bool]:
    """Remove every row of a customer that is locked for removal; returns how many, and whether a refusal remains.

    A refusal stays, with the references that it is found by, unless it is to be forgotten too.
    """
    removed = sum(delete_rows(_of_customer(table, product_id, customer_id)) for table in tables_of_customers())
    choices = _of_customer(_table(CustomerChoice), product_id, customer_id)
    removed += delete_rows(choices if forgets_refusals else choices.where(CustomerChoice.decision != DECLINED))
    keeps_refusal = bool(list_declined(product_id, customer_id))
    if keeps_refusal:
        _replace(product_id, customer_id)
    else:
        removed += delete_rows(_of_customer(_table(CustomerReference), product_id, customer_id))
        removed += delete_rows(delete(Customer).where(Customer.product_id == product_id, Customer.id == customer_id))
    return removed, keeps_refusal


def delete_rows(statement: Delete) -> int:
    """Execute a DELETE and return how many rows it removed."""
    result = session().execute(statement)
    assert isinstance(result, CursorResult)
    return result.rowcount


def _of_customer(table: Table, product_id: uuid.UUID, customer_id: uuid.UUID) -> Delete:
    return delete(table).where(table.c.product_id == product_id, table.c.customer_id == customer_id)


def _table(model: type[CustomerChoice] | type[CustomerReference]) -> Table:
    table = model.__table__
    assert isinstance(table, Table)
    return table


def _replace(product_id: uuid.UUID, customer_id: uuid.UUID) -> None:
    row = session().execute(_REPLACE, {"product_id": product_id, "customer_id": customer_id}).one()
    session().expire_all()
    session().add(
        Customer(product_id=product_id, id=customer_id, created_at=row.created_at, last_seen_at=row.last_seen_at)
    )
    session().flush()
