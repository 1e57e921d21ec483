"""Locking customers, who may be linked or erased before the lock is held.

Every writer locks the customer first, and only then what belongs to it, so that an answer, an opt-out and a link never
deadlock or overlap.
"""

import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from sqlalchemy import text

from app.core.database import session
from app.core.errors import Conflict

# A retrieval (FOR KEY SHARE) does not wait for a writer, and waits for what removes its customer.
_LOCK = text("SELECT id FROM customers WHERE product_id = :product_id AND id = :customer_id FOR NO KEY UPDATE")

_LOCK_FOR_REMOVAL = text("""
    SELECT id FROM customers WHERE product_id = :product_id AND id = ANY(CAST(:ids AS uuid[])) ORDER BY id FOR UPDATE
""")

MAX_TRIES = 5

Result = TypeVar("Result")


class CustomerGone(Conflict):
    """The customer was linked into another one, or erased, before it was locked."""

    code = "customer_busy"
    sentence = "This customer is being changed by others; please try again."


def retry(attempt: Callable[[], Result]) -> Result:
    """Return what `attempt` returns; while it raises `CustomerGone`, call it again, up to `MAX_TRIES` times in all."""
    for _ in range(MAX_TRIES - 1):
        with suppress(CustomerGone):
            return attempt()
    return attempt()


def lock_current(
    product_id: uuid.UUID, find_customer_id: Callable[[], uuid.UUID | None], *, is_for_removal: bool = False
) -> uuid.UUID | None:
    """Lock the customer whose id `find_customer_id` returns, and return the id; None if it returns None.

    The id is looked up again under the lock, since a customer may be linked into another one before. So
    `find_customer_id` has to read the database every time. `is_for_removal` keeps retrievals out as well. Raises
    `CustomerGone` if the customer does not exist or never stays the same.
    """

    def attempt() -> uuid.UUID | None:
        customer_id = find_customer_id()
        if customer_id is None:
            return None
        if is_for_removal:
            lock_for_removal(product_id, customer_id)
        else:
            lock(product_id, customer_id)
        if find_customer_id() != customer_id:
            raise CustomerGone
        return customer_id

    return retry(attempt)


def lock(product_id: uuid.UUID, customer_id: uuid.UUID) -> None:
    """Lock a customer for writing what belongs to it, or raise `CustomerGone`."""
    values = {"product_id": product_id, "customer_id": customer_id}
    if session().execute(_LOCK, values).first() is None:
        raise CustomerGone


def lock_for_removal(product_id: uuid.UUID, *customer_ids: uuid.UUID) -> None:
    """Lock customers that may cease to exist, or raise `CustomerGone` unless all of them do exist."""
    rows = session().execute(_LOCK_FOR_REMOVAL, {"product_id": product_id, "ids": list(customer_ids)}).all()
    if len(rows) < len(customer_ids):
        raise CustomerGone
