"""Read customers for those who look after them: never a digest."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.core.database.pages import PagedTable
from app.customers.rules import PURPOSES

MAX_REFERENCES = 50
"""Of one customer that are listed; a customer of more devices than that is a shared account."""


class CustomerItem(NamedTuple):
    """A customer, and when a request last named it, to the day."""

    id: uuid.UUID
    created_at: datetime
    last_seen_at: datetime


class ReferenceItem(NamedTuple):
    """What may be shown of a reference: neither the text, which is not stored, nor its digest."""

    kind: str
    has_account: bool
    """Whether a user was sent with an account."""
    created_at: datetime
    linked_at: datetime | None


class ChoiceItem(NamedTuple):
    """A customer's last choice about a purpose."""

    customer_id: uuid.UUID
    purpose: str
    decision: str
    decided_at: datetime


CUSTOMERS = PagedTable(
    "customers",
    CustomerItem,
    {name: f"f.{name}" for name in CustomerItem._fields},
    filters={},
    tenant="product_id",
    instant="last_seen_at",
    id="id",
)

_FIND = text("SELECT id, created_at, last_seen_at FROM customers WHERE product_id = :product_id AND id = :customer_id")

_REFERENCES = text(f"""
    SELECT kind, scope <> '' AS has_account, created_at, linked_at FROM customer_references
    WHERE product_id = :product_id AND customer_id = :customer_id ORDER BY created_at, kind LIMIT {MAX_REFERENCES}
""")

_CHOICES = text("""
    SELECT customer_id, purpose, decision, decided_at FROM customer_choices
    WHERE product_id = :product_id AND customer_id = ANY(:customer_ids) ORDER BY customer_id, purpose LIMIT :limit
""")


def find_customer(product_id: uuid.UUID, customer_id: uuid.UUID) -> CustomerItem | None:
    """Return a customer of a product as it is in the database now, or None."""
    row = session().execute(_FIND, {"product_id": product_id, "customer_id": customer_id}).one_or_none()
    return CustomerItem(*row) if row else None


def list_references(product_id: uuid.UUID, customer_id: uuid.UUID) -> list[ReferenceItem]:
    """Return the references that a customer is known by, oldest first."""
    values = {"product_id": product_id, "customer_id": customer_id}
    return [ReferenceItem(*row) for row in session().execute(_REFERENCES, values)]


def list_choices(product_id: uuid.UUID, customer_ids: Sequence[uuid.UUID]) -> list[ChoiceItem]:
    """Return the choices of some customers."""
    # At most one row of each purpose for each customer.
    limit = len(customer_ids) * len(PURPOSES)
    values = {"product_id": product_id, "customer_ids": list(customer_ids), "limit": limit}
    return [ChoiceItem(*row) for row in session().execute(_CHOICES, values)]
