"""Exporting and erasing what is kept of one customer, who is named by reference."""

import uuid
from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, CursorResult, Delete, delete, select, text

from app.accounts.service import COMMAND_LINE, record_audit_entry
from app.core.database import Base, session
from app.core.errors import Conflict, NotFound
from app.core.pepper import current_pepper
from app.core.purposes import Purpose
from app.customers import service as customers
from app.customers.models import Customer, CustomerChoice, CustomerReference
from app.customers.rules import DECLINED, References, digest_references
from app.personalization.models import PersonalizationDecision, PersonalizationOutcome
from app.products.models import Product

BATCH_SIZE = 500
MAX_TRIES = 5

# An interaction has asked, whoever it was for.
_CLOSE_REQUESTS = text("""
    INSERT INTO closed_requests (environment_id, interaction_id, closed_at)
    SELECT environment_id, interaction_id, expires_at FROM enrichment_requests
    WHERE product_id = :product_id AND customer_id = :customer_id ON CONFLICT DO NOTHING
""")

NOT_EXPORTED = {"digest", "scope", "fingerprint", "answer_fingerprint", "key_id"}
"""Digests that stand for references, and what belongs to the company rather than to its customer."""

_OWN = tuple(Base.metadata.tables[model.__tablename__] for model in (Customer, CustomerReference, CustomerChoice))


class UnknownCustomer(NotFound):
    """No customer has these references."""

    sentence = "There is no such customer: this product has nothing stored under these references."


class SeveralCustomers(Conflict):
    """Customers of several accounts have the same userRef."""

    sentence = "Several customers have this userRef; name the account with it."


def digest(product_id: uuid.UUID, account: str | None, user: str | None, anonymous: str | None) -> References:
    """Return references as they are kept."""
    return digest_references(current_pepper().derive(Purpose.CUSTOMER_REFERENCES, product_id), account, user, anonymous)


def export(product_id: uuid.UUID, references: References, actor: str = COMMAND_LINE) -> Iterator[dict[str, Any]]:
    """Yield every row that is kept of a customer, with the name of its table."""
    customer_id = _get(product_id, references)
    _record(product_id, actor, "customer.exported", customer_id)
    for table in (*_OWN, *customers.tables_of_customers()):
        column = table.c.id if table.name == Customer.__tablename__ else table.c.customer_id
        wanted = select(*(c for c in table.columns if c.name not in NOT_EXPORTED))
        found = session().execute(
            wanted.where(table.c.product_id == product_id, column == customer_id),
            execution_options={"yield_per": BATCH_SIZE},
        )
        for row in found.mappings():
            yield {"table": table.name, **row}
    outcomes = select(PersonalizationOutcome.__table__).where(*_outcomes_of(product_id, customer_id))
    for row in session().execute(outcomes, execution_options={"yield_per": BATCH_SIZE}).mappings():
        yield {"table": PersonalizationOutcome.__tablename__, **row}


def erase(
    product_id: uuid.UUID, references: References, *, forgets_refusals: bool = False, actor: str = COMMAND_LINE
) -> int:
    """Remove what is kept of a customer; returns how many rows there were.

    A recorded no stays with the digests that it is found by, unless it is to be forgotten too: somebody who was
    erased would be asked again.
    """
    customer_id = _lock(product_id, references)
    session().execute(_CLOSE_REQUESTS, {"product_id": product_id, "customer_id": customer_id})
    removed = _rows(delete(PersonalizationOutcome).where(*_outcomes_of(product_id, customer_id)))
    for table in customers.tables_of_customers():
        removed += _rows(delete(table).where(table.c.product_id == product_id, table.c.customer_id == customer_id))
    choices = delete(CustomerChoice).where(
        CustomerChoice.product_id == product_id, CustomerChoice.customer_id == customer_id
    )
    removed += _rows(choices if forgets_refusals else choices.where(CustomerChoice.decision != DECLINED))
    keeps_refusal = bool(customers.list_declined(product_id, customer_id))
    if not keeps_refusal:
        removed += _rows(
            delete(CustomerReference).where(
                CustomerReference.product_id == product_id, CustomerReference.customer_id == customer_id
            )
        )
        removed += _rows(delete(Customer).where(Customer.product_id == product_id, Customer.id == customer_id))
    _record(product_id, actor, "customer.erased", customer_id, rows=removed, keepsRefusal=keeps_refusal)
    return removed


def _record(product_id: uuid.UUID, actor: str, deed: str, customer_id: uuid.UUID, **details: Any) -> None:
    product = session().get_one(Product, product_id)
    record_audit_entry(product.workspace_id, actor, deed, str(customer_id), product=str(product_id), **details)


def _lock(product_id: uuid.UUID, references: References) -> uuid.UUID:
    """Lock the customer that references name, who may become part of another one meanwhile."""
    for _ in range(MAX_TRIES):
        customer_id = _get(product_id, references)
        if customers.lock(product_id, customer_id):
            return customer_id
    raise UnknownCustomer


def _get(product_id: uuid.UUID, references: References) -> uuid.UUID:
    customer_ids = customers.list_named(product_id, references)
    if not customer_ids:
        raise UnknownCustomer
    if len(customer_ids) > 1:
        raise SeveralCustomers
    return customer_ids[0]


def _outcomes_of(product_id: uuid.UUID, customer_id: uuid.UUID) -> tuple[ColumnElement[bool], ...]:
    decisions = select(PersonalizationDecision.id).where(
        PersonalizationDecision.product_id == product_id, PersonalizationDecision.customer_id == customer_id
    )
    return PersonalizationOutcome.product_id == product_id, PersonalizationOutcome.decision_id.in_(decisions)


def _rows(statement: Delete) -> int:
    result = session().execute(statement)
    assert isinstance(result, CursorResult)
    return result.rowcount
