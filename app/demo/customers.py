"""Customer context: who was asked what and answered, and what the company decided with it."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from app.catalog.entries import PRODUCT_VERSION, Catalog, Entry, catalog_file, product_entry
from app.customers.bulk import NewCustomer, insert_customers
from app.customers.rules import APPROVED, DECLINED, ContextPurpose, Kind, Level
from app.demo.content import context
from app.demo.decisions import DecisionWriter
from app.demo.deliveries import customer_reference
from app.demo.period import Ids, Period
from app.demo.requests import ContextRequest, RequestWriter
from app.demo.traffic import Visit
from app.demo.workspace import SampleEnvironment
from app.enrichment.views import usable_entries

ANONYMOUS_EVERY = 4
"""Every fourth customer is known by an anonymous reference only."""
DECLINING_SHARE = 0.07
APPROVING_SHARE = 0.3
ADVERTISING_SHARE = 0.12
MAX_ANSWERS = 3
CHOICE_DELAY = timedelta(seconds=35)


def has_context(environment: SampleEnvironment) -> bool:
    """Tell whether an environment asks for context of its customers."""
    return environment.content.name == "production" and environment.product.slug in context().variants


class CustomerWriter:
    """Inserts the customers of one environment, and everything that is known about them."""

    def __init__(self, period: Period, ids: Ids, environment: SampleEnvironment) -> None:
        self._period, self._ids, self._environment = period, ids, environment
        slug = environment.product.slug
        self._random = period.random(f"customers {slug}")
        self._catalog = _catalog(slug)
        self._requests = RequestWriter(period, ids, environment, self._catalog)
        self._decisions = DecisionWriter(period, ids, environment)
        self._visits_by_customer: dict[int, list[Visit]] = {}
        """Those of customers who were asked, from the first question on."""
        self._choices: dict[tuple[int, str], dict[str, Any]] = {}

    def write(self, visits: Sequence[Visit]) -> None:
        """Insert what came of the visits of known customers."""
        for visit in visits:
            if visit.customer is not None:
                self._follow(visit)
        insert_customers(list(map(self._customer, self._visits_by_customer)), list(self._choices.values()))
        self._requests.write()
        self._decisions.write()

    def _follow(self, visit: Visit) -> None:
        """Ask in a visit, or use what is known, as often as its operation does."""
        assert visit.customer is not None
        asks, uses = self._random.random(), self._random.random()
        if asks < visit.operation.asks_context:
            self._visits_by_customer.setdefault(visit.customer, []).append(visit)
            self._ask(visit)
        elif uses < visit.operation.uses_context:
            # Who was never asked is no customer of the service, and a retrieval finds nobody.
            customer_id = self._customer_id(visit) if visit.customer in self._visits_by_customer else None
            self._decisions.decide(visit, customer_id, self._requests.signal_ids(visit))

    def _ask(self, visit: Visit) -> None:
        random, purpose = self._random, ContextPurpose.PRODUCT_PERSONALIZATION
        if random.random() < ADVERTISING_SHARE and self._environment.product.slug == "shop":
            purpose = ContextPurpose.TARGETED_ADVERTISING
        draw, count = random.random(), random.randint(1, MAX_ANSWERS)
        entries = usable_entries(self._catalog, visit.operation.name, purpose)
        if self._is_declined(visit, purpose):
            return
        if draw < DECLINING_SHARE:
            self._choose(visit, purpose, DECLINED)
            self._requests.forget(visit, purpose)
            self._requests.add(self._request(visit, purpose, "declined"), [])
            return
        if draw < DECLINING_SHARE + APPROVING_SHARE:
            self._choose(visit, purpose, APPROVED)
        status = random.choices(("answered", "no_relevant_context", None), (0.68, 0.16, 0.16))[0]
        chosen = random.sample(entries, min(count, len(entries))) if status == "answered" else []
        self._requests.add(self._request(visit, purpose, status), chosen)

    def _request(self, visit: Visit, purpose: ContextPurpose, status: str | None) -> ContextRequest:
        return ContextRequest(visit, self._customer_id(visit), _level(visit), purpose, status)

    def _is_declined(self, visit: Visit, purpose: str) -> bool:
        assert visit.customer is not None
        choice = self._choices.get((visit.customer, purpose))
        return choice is not None and choice["decision"] == DECLINED

    def _choose(self, visit: Visit, purpose: str, decision: str) -> None:
        assert visit.customer is not None
        decided_at = min(visit.received_at + CHOICE_DELAY, self._period.end)
        self._choices[visit.customer, purpose] = {
            "product_id": self._environment.product_id,
            "customer_id": self._customer_id(visit),
            "purpose": purpose,
            "decision": decision,
            "decided_at": decided_at,
        }

    def _customer_id(self, visit: Visit) -> uuid.UUID:
        return self._ids.make(f"customer {self._environment.product.slug}", visit.customer)

    def _customer(self, number: int) -> NewCustomer:
        visits = self._visits_by_customer[number]
        return NewCustomer(
            self._environment.product_id,
            self._customer_id(visits[0]),
            Kind.USER if _level(visits[0]) is Level.VERIFIED else Kind.ANONYMOUS,
            customer_reference(self._environment, number),
            visits[0].received_at,
            visits[-1].received_at,
        )


def _level(visit: Visit) -> Level:
    assert visit.customer is not None
    return Level.VERIFIED if visit.customer % ANONYMOUS_EVERY else Level.PSEUDONYMOUS


def _catalog(slug: str) -> Catalog:
    """Return what a product asks for: fields of its own, or some of the built-in ones."""
    if slug == "shop":
        built_in = catalog_file().catalog
        keys = context().shop.keys
        return Catalog(built_in.version, tuple(entry for entry in built_in.entries if entry.key in keys))
    return Catalog(PRODUCT_VERSION, tuple(_own_entries()))


def _own_entries() -> list[Entry]:
    return [
        product_entry(
            field.key,
            field.label,
            field.type,
            field.allowed_values,
            targeted_advertising_safe=field.advertising_safe,
            operations=tuple(field.operations) if field.operations else None,
        )
        for field in sorted(context().fields, key=lambda field: field.key)
        if field.enabled
    ]
