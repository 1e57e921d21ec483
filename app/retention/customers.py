"""Export and erase what is stored of one customer, identified by references."""

import uuid
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Select, select

from app.accounts.service import COMMAND_LINE_ACTOR, record_audit_entry
from app.core.database import session
from app.core.errors import Conflict, NotFound
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.customers import erasure, locks
from app.customers import service as customers
from app.customers.locks import CustomerGone
from app.customers.rules import References, digest_references
from app.customers.tables import own_tables, tables_of_customers
from app.enrichment import revocation
from app.personalization import service as personalization
from app.products import service as products

BATCH_SIZE = 500

NOT_EXPORTED = {"digest", "scope", "pepper_id", "fingerprint", "answer_fingerprint", "key_id"}
"""Digests that stand for references, and what belongs to the company rather than to its customer."""


class UnknownCustomer(NotFound):
    """No customer has these references."""

    sentence = "There is no such customer: this product has nothing stored under these references."


class SeveralCustomers(Conflict):
    """Customers of several accounts have the same userRef."""

    sentence = "Several customers have this userRef; name the account with it."


def digest(product_id: uuid.UUID, account: str | None, user: str | None, anonymous: str | None) -> References:
    """Return the digests of references, as they are stored."""
    keys = pepper_ring().derive_all(Purpose.CUSTOMER_REFERENCES, product_id)
    return digest_references(keys, account, user, anonymous)


def export(product_id: uuid.UUID, references: References, actor: str = COMMAND_LINE_ACTOR) -> Iterator[dict[str, Any]]:
    """Yield every row that is stored of a customer, with the name of its table."""
    customer_id = _find(product_id, references)
    if customer_id is None:
        raise UnknownCustomer
    _record(product_id, actor, "customer.exported", customer_id)
    for table in (*own_tables(), *tables_of_customers()):
        column = table.c.customer_id if "customer_id" in table.c else table.c.id
        columns = select(*(column for column in table.columns if column.name not in NOT_EXPORTED))
        yield from _rows(table.name, columns.where(table.c.product_id == product_id, column == customer_id))
    yield from _rows("personalization_outcomes", personalization.select_outcomes(product_id, customer_id))


def erase(
    product_id: uuid.UUID, references: References, *, forgets_refusals: bool = False, actor: str = COMMAND_LINE_ACTOR
) -> int:
    """Remove what is stored of a customer; returns how many rows there were.

    A recorded no stays with the digests that it is found by, unless it is to be forgotten too: somebody who was
    erased would be asked again.
    """
    try:
        customer_id = locks.lock_current(product_id, lambda: _find(product_id, references), is_for_removal=True)
    except CustomerGone:
        customer_id = None
    if customer_id is None:
        raise UnknownCustomer
    revocation.close_requests(product_id, customer_id)
    row_count = personalization.erase_outcomes(product_id, customer_id)
    rows, keeps_refusal = erasure.erase(product_id, customer_id, forgets_refusals=forgets_refusals)
    row_count += rows
    _record(product_id, actor, "customer.erased", customer_id, rows=row_count, keepsRefusal=keeps_refusal)
    return row_count


def _find(product_id: uuid.UUID, references: References) -> uuid.UUID | None:
    """Return the customer that references name, or raise `SeveralCustomers`."""
    customer_ids = customers.list_named(product_id, references)
    if len(customer_ids) > 1:
        raise SeveralCustomers
    return customer_ids[0] if customer_ids else None


def _rows(table: str, statement: Select[Any]) -> Iterator[dict[str, Any]]:
    result = session().execute(statement, execution_options={"yield_per": BATCH_SIZE})
    return ({"table": table, **row} for row in result.mappings())


def _record(product_id: uuid.UUID, actor: str, action: str, customer_id: uuid.UUID, **details: Any) -> None:
    product = products.get_product(product_id)
    record_audit_entry(product.workspace_id, actor, action, str(customer_id), product=str(product_id), **details)
