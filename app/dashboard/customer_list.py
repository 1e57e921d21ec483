"""The list of customers, with how much is kept of each."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.core.database.pages import Criteria, Position
from app.customers.queries import CUSTOMERS, CustomerItem, list_choices
from app.customers.rules import DECLINED
from app.dashboard.export_schemas import CustomerRowSchema
from app.dashboard.lists import Batch, ItemList, Place
from app.enrichment.signals import count_signals
from app.reading.service import time_place, time_position


@dataclass(frozen=True, slots=True)
class CustomerRow:
    """A customer of the list, with what is kept of it."""

    customer: CustomerItem
    signals: int
    has_more_signals: bool
    """Whether there may be more signals than were counted."""
    declined_purposes: Sequence[str]


def customer_list(product_id: uuid.UUID, since: datetime, max_signals: int) -> ItemList:
    """Return the list of the customers of a product, the last seen first; their signals are counted up to a bound."""
    criteria = Criteria(product_id, since=since)

    def read(limit: int, place: Place | None) -> Batch:
        position: Position | None = time_position(place) if place else None
        page = CUSTOMERS.list(criteria, limit, position)
        return Batch(
            _rows(product_id, page.rows, max_signals), time_place(page.next_position) if page.next_position else None
        )

    return ItemList("customers", CustomerRowSchema, read, (product_id,))


def _rows(product_id: uuid.UUID, customers: Sequence[CustomerItem], max_signals: int) -> list[CustomerRow]:
    ids = [customer.id for customer in customers]
    signals = Counter(count_signals(product_id, ids, max_signals))
    declined_purposes = defaultdict(list)
    for choice in list_choices(product_id, ids):
        if choice.decision == DECLINED:
            declined_purposes[choice.customer_id].append(choice.purpose)
    return [
        CustomerRow(customer, signals[customer.id], signals[customer.id] == max_signals, declined_purposes[customer.id])
        for customer in customers
    ]
