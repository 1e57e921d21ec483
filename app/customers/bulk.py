"""Insert customers of past times with their references and choices, as sample data needs them."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import insert

from app.core.database import session
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.customers.models import Customer, CustomerChoice, CustomerReference
from app.customers.rules import NO_ACCOUNT, Kind, digest_references


class NewCustomer(NamedTuple):
    """A customer with one reference, which is digested before it is stored."""

    product_id: uuid.UUID
    id: uuid.UUID
    kind: Kind
    reference: str
    created_at: datetime
    last_seen_at: datetime


def insert_customers(customers: Sequence[NewCustomer], choices: Sequence[dict[str, Any]]) -> None:
    """Insert customers that the product does not have, and their choices."""
    if customers:
        rows = [customer._asdict() for customer in customers]
        columns = ("product_id", "id", "created_at", "last_seen_at")
        session().execute(insert(Customer), [{name: row[name] for name in columns} for row in rows])
        session().execute(insert(CustomerReference), list(map(_reference, customers)))
    if choices:
        session().execute(insert(CustomerChoice), choices)


def _reference(customer: NewCustomer) -> dict[str, Any]:
    keys = pepper_ring().derive_all(Purpose.CUSTOMER_REFERENCES, customer.product_id)
    digests = digest_references(
        keys, **{kind: customer.reference if kind is customer.kind else None for kind in Kind}
    )._asdict()
    return {
        "product_id": customer.product_id,
        "kind": customer.kind,
        "digest": digests[customer.kind][0],
        "scope": NO_ACCOUNT,
        "pepper_id": pepper_ring().newest.id,
        "customer_id": customer.id,
        "created_at": customer.created_at,
    }
