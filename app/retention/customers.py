"""Export and erase what is stored of one customer, and record a no that the company was told."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Select, select

from app.accounts.service import COMMAND_LINE_ACTOR, record_audit_entry
from app.core.database import session
from app.core.errors import Conflict, NotFound
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.core.wire.serialization import dumps
from app.customers import erasure, locks
from app.customers import service as customers
from app.customers.locks import CustomerGone
from app.customers.queries import find_customer
from app.customers.rules import DECLINED, References, digest_references
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


def get_named(product_id: uuid.UUID, references: References) -> uuid.UUID:
    """Return the customer that references name, or raise `UnknownCustomer` or `SeveralCustomers`."""
    customer_id = _find(product_id, references)
    if customer_id is None:
        raise UnknownCustomer
    return customer_id


def export_lines(product_id: uuid.UUID, customer_id: uuid.UUID, actor: str = COMMAND_LINE_ACTOR) -> Iterator[bytes]:
    """Yield every row that is stored of a customer as a JSON object with the name of its table, one a line."""
    _record(product_id, actor, "customer.exported", customer_id)
    for table in (*own_tables(), *tables_of_customers()):
        column = table.c.customer_id if "customer_id" in table.c else table.c.id
        columns = select(*(column for column in table.columns if column.name not in NOT_EXPORTED))
        yield from _lines(table.name, columns.where(table.c.product_id == product_id, column == customer_id))
    yield from _lines("personalization_outcomes", personalization.select_outcomes(product_id, customer_id))


def erase(
    product_id: uuid.UUID, references: References, *, forgets_refusals: bool = False, actor: str = COMMAND_LINE_ACTOR
) -> int:
    """Remove what is stored of the customer that references name; returns how many rows there were.

    A recorded no stays with the digests that it is found by, unless it is to be forgotten too: somebody who was
    erased would be asked again.
    """
    customer_id = _lock(product_id, lambda: _find(product_id, references), is_for_removal=True)
    return _erase(product_id, customer_id, forgets_refusals=forgets_refusals, actor=actor)


def erase_by_id(product_id: uuid.UUID, customer_id: uuid.UUID, *, forgets_refusals: bool, actor: str) -> int:
    """Do what `erase` does, for the customer of an id."""
    _lock(product_id, lambda: _find_id(product_id, customer_id), is_for_removal=True)
    return _erase(product_id, customer_id, forgets_refusals=forgets_refusals, actor=actor)


def opt_out(product_id: uuid.UUID, customer_id: uuid.UUID, purpose: str, actor: str) -> None:
    """Record that a customer has declined a purpose, and remove what was told for it."""
    _lock(product_id, lambda: _find_id(product_id, customer_id))
    previous_decision = customers.find_choice(product_id, customer_id, purpose)
    customers.choose(product_id, customer_id, purpose, DECLINED)
    revocation.revoke(product_id, customer_id, purpose)
    change = {"before": {purpose: previous_decision}, "after": {purpose: DECLINED}}
    _record(product_id, actor, "customer.opted_out", customer_id, **change)


def _lock(
    product_id: uuid.UUID, find_customer_id: Callable[[], uuid.UUID | None], *, is_for_removal: bool = False
) -> uuid.UUID:
    try:
        customer_id = locks.lock_current(product_id, find_customer_id, is_for_removal=is_for_removal)
    except CustomerGone:
        customer_id = None
    if customer_id is None:
        raise UnknownCustomer
    return customer_id


def _erase(product_id: uuid.UUID, customer_id: uuid.UUID, *, forgets_refusals: bool, actor: str) -> int:
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


def _find_id(product_id: uuid.UUID, customer_id: uuid.UUID) -> uuid.UUID | None:
    customer = find_customer(product_id, customer_id)
    return customer.id if customer else None


def _lines(table: str, statement: Select[Any]) -> Iterator[bytes]:
    result = session().execute(statement, execution_options={"yield_per": BATCH_SIZE})
    return (dumps({"table": table, **row}) + b"\n" for row in result.mappings())


def _record(product_id: uuid.UUID, actor: str, action: str, customer_id: uuid.UUID, **details: Any) -> None:
    product = products.get_product(product_id)
    record_audit_entry(product.workspace_id, actor, action, str(customer_id), product=str(product_id), **details)
