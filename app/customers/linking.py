"""Link one customer into another, so that two become one."""

import uuid
from datetime import timedelta

from sqlalchemy import delete, text

from app.core import clock
from app.core.database import session
from app.core.database.deletion import delete_rows
from app.customers import locks
from app.customers.models import Customer, CustomerChoice
from app.customers.tables import tables_of_customers

_REPOINT = text("""
    UPDATE customer_references SET customer_id = :into, linked_at = :now
    WHERE product_id = :product_id AND customer_id = :customer_id
""")

# A no of either of the two remains.
_MERGE_CHOICES = text("""
    INSERT INTO customer_choices AS c (product_id, customer_id, purpose, decision, decided_at)
    SELECT product_id, :into, purpose, decision, decided_at FROM customer_choices
    WHERE product_id = :product_id AND customer_id = :customer_id
    ON CONFLICT (product_id, customer_id, purpose) DO UPDATE
        SET decision = CASE WHEN 'declined' IN (c.decision, excluded.decision) THEN 'declined' ELSE c.decision END,
            decided_at = greatest(c.decided_at, excluded.decided_at)
""")

_UPDATE_LAST_SEEN = text("""
    UPDATE customers SET last_seen_at = :now
    WHERE product_id = :product_id AND id = :customer_id AND last_seen_at < :before
""")

LAST_SEEN_PRECISION = timedelta(days=1)


def link(product_id: uuid.UUID, customer_id: uuid.UUID, target_id: uuid.UUID) -> None:
    """Move everything of a customer to another one, and lock both."""
    values = {"product_id": product_id, "customer_id": customer_id, "into": target_id, "now": clock.now()}
    locks.lock_for_removal(product_id, customer_id, target_id)
    update_last_seen(product_id, target_id)
    session().execute(_MERGE_CHOICES, values)
    session().execute(_REPOINT, values)
    where = "WHERE product_id = :product_id AND customer_id = :customer_id"
    for table in tables_of_customers():
        session().execute(text(f"UPDATE {table.name} SET customer_id = :into {where}"), values)
    delete_rows(
        delete(CustomerChoice).where(CustomerChoice.product_id == product_id, CustomerChoice.customer_id == customer_id)
    )
    delete_rows(delete(Customer).where(Customer.product_id == product_id, Customer.id == customer_id))


def update_last_seen(product_id: uuid.UUID, customer_id: uuid.UUID) -> None:
    """Record to the day that a customer was named."""
    now = clock.now()
    values = {"product_id": product_id, "customer_id": customer_id, "now": now, "before": now - LAST_SEEN_PRECISION}
    session().execute(_UPDATE_LAST_SEEN, values)
