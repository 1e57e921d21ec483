"""Resolve references to customers, link customers, and record their choices."""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row, text

from app.core import clock
from app.core.database import session
from app.core.errors import Conflict
from app.core.pepper import current_pepper, pepper_ring
from app.customers import locks
from app.customers.linking import link, update_last_seen
from app.customers.models import Customer, CustomerChoice, CustomerReference
from app.customers.renewal import renew
from app.customers.rules import DECLINED, NO_ACCOUNT, ContextPurpose, Digests, Kind, Level, References

# In one fixed order, so that two requests with the same references never deadlock.
_LOCK_REFERENCES = text("SELECT pg_advisory_xact_lock(key) FROM unnest(CAST(:keys AS bigint[])) AS key")

_FIND = text("""
    SELECT scope, customer_id, linked_at FROM customer_references
    WHERE product_id = :product_id AND kind = :kind AND digest = ANY(:digests) LIMIT 1000
""")

_BIND_USER = text("""
    UPDATE customer_references SET scope = :scope
    WHERE product_id = :product_id AND kind = 'user' AND digest = :digest AND scope = ''
""")

_CHOOSE = text("""
    INSERT INTO customer_choices (product_id, customer_id, purpose, decision, decided_at)
    VALUES (:product_id, :customer_id, :purpose, :decision, :now)
    ON CONFLICT (product_id, customer_id, purpose) DO UPDATE
        SET decision = excluded.decision, decided_at = excluded.decided_at
""")


class AmbiguousUser(Conflict):
    """Several accounts have a user with this reference."""

    code = "ambiguous_reference"
    sentence = "Users of several accounts have this userRef; send the accountRef with it."


class LinkedElsewhere(Conflict):
    """The anonymous customer is linked to another customer already."""

    code = "linked_elsewhere"
    sentence = "This anonymousRef has already become part of another customer."


@dataclass(frozen=True, slots=True)
class Identity:
    """The customer that references name, locked until the end of the transaction."""

    customer_id: uuid.UUID | None
    level: Level
    has_been_linked: bool = False
    """Whether another customer was just linked into this one."""


def resolve(product_id: uuid.UUID, references: References) -> Identity:
    """Return the customer that references name, created or linked if needed, and lock it."""
    if references.level is Level.EPHEMERAL:
        return Identity(None, references.level)
    session().execute(_LOCK_REFERENCES, {"keys": _lock_keys(product_id, references)})
    ring = pepper_ring()
    has_been_linked = ring.has_older and renew(product_id, references, ring.newest.id)
    identity = locks.retry(lambda: _resolve(product_id, references))
    return replace(identity, has_been_linked=True) if has_been_linked else identity


def find(product_id: uuid.UUID, references: References) -> uuid.UUID | None:
    """Return the customer that references name, if it is exactly one."""
    customer_ids = list_named(product_id, references)
    return customer_ids[0] if len(customer_ids) == 1 else None


def list_named(product_id: uuid.UUID, references: References) -> list[uuid.UUID]:
    """Return every customer that references may name: several for a userRef that several accounts have."""
    rows: Sequence[Row[Any]]
    if references.user is not None:
        scopes = (NO_ACCOUNT, *(references.account or ()))
        users = _find(product_id, Kind.USER, references.user)
        rows = [row for row in users if references.account is None or bytes(row.scope) in scopes]
    elif references.account is not None:
        rows = _find(product_id, Kind.ACCOUNT, references.account)
    else:
        rows = _find(product_id, Kind.ANONYMOUS, references.anonymous) if references.anonymous else []
    return [row.customer_id for row in rows]


def find_choice(product_id: uuid.UUID, customer_id: uuid.UUID, purpose: str) -> str | None:
    """Return a customer's last choice about a purpose, or None."""
    choice = session().get(CustomerChoice, (product_id, customer_id, purpose), populate_existing=True)
    return choice.decision if choice else None


def choose(product_id: uuid.UUID, customer_id: uuid.UUID, purpose: str, decision: str) -> None:
    """Record a customer's choice about a purpose."""
    values = {"product_id": product_id, "customer_id": customer_id, "purpose": purpose, "decision": decision}
    session().execute(_CHOOSE, {**values, "now": clock.now()})


def list_declined(product_id: uuid.UUID, customer_id: uuid.UUID) -> list[str]:
    """Return the purposes that a customer has declined."""
    return [
        purpose for purpose in map(str, ContextPurpose) if find_choice(product_id, customer_id, purpose) == DECLINED
    ]


def _lock_keys(product_id: uuid.UUID, references: References) -> list[int]:
    pairs = zip(References._fields, references, strict=True)
    names = [(kind, digest) for kind, digests in pairs for digest in digests or ()]
    hashes = [hashlib.sha256(product_id.bytes + kind.encode() + digest).digest() for kind, digest in names]
    return sorted(int.from_bytes(hash_[:8], signed=True) for hash_ in hashes)


def _resolve(product_id: uuid.UUID, references: References) -> Identity:
    verified_id = _find_verified(product_id, references)
    if references.anonymous is None:
        assert verified_id is not None
        return Identity(_lock(product_id, verified_id), references.level)
    rows = _find(product_id, Kind.ANONYMOUS, references.anonymous)
    if verified_id is None:
        customer_id = rows[0].customer_id if rows else _create(product_id, Kind.ANONYMOUS, references.anonymous[0])
        return Identity(_lock(product_id, customer_id), references.level)
    if not rows:
        _refer(product_id, Kind.ANONYMOUS, references.anonymous[0], verified_id, is_linked=True)
    elif rows[0].customer_id != verified_id:
        if rows[0].linked_at is not None:
            raise LinkedElsewhere
        link(product_id, rows[0].customer_id, verified_id)
        return Identity(verified_id, references.level, has_been_linked=True)
    return Identity(_lock(product_id, verified_id), references.level)


def _find_verified(product_id: uuid.UUID, references: References) -> uuid.UUID | None:
    if references.user is not None:
        return _user(product_id, references.user[0], references.account[0] if references.account else NO_ACCOUNT)
    if references.account is None:
        return None
    rows = _find(product_id, Kind.ACCOUNT, references.account)
    return rows[0].customer_id if rows else _create(product_id, Kind.ACCOUNT, references.account[0])


def _user(product_id: uuid.UUID, digest: bytes, account: bytes) -> uuid.UUID:
    """Return a user of an account; one that was sent without it, before or after, is the same."""
    customers_by_account: dict[bytes, uuid.UUID] = {
        bytes(row.scope): row.customer_id for row in _find(product_id, Kind.USER, [digest])
    }
    if account in customers_by_account:
        return customers_by_account[account]
    if account == NO_ACCOUNT and customers_by_account:
        if len(customers_by_account) > 1:
            raise AmbiguousUser
        return next(iter(customers_by_account.values()))
    if NO_ACCOUNT in customers_by_account:
        session().execute(_BIND_USER, {"product_id": product_id, "digest": digest, "scope": account})
        return customers_by_account[NO_ACCOUNT]
    return _create(product_id, Kind.USER, digest, account)


def _find(product_id: uuid.UUID, kind: Kind, digests: Digests) -> Sequence[Row[Any]]:
    values = {"product_id": product_id, "kind": kind, "digests": digests}
    return session().execute(_FIND, values).all()


def _create(product_id: uuid.UUID, kind: Kind, digest: bytes, scope: bytes = NO_ACCOUNT) -> uuid.UUID:
    now = clock.now()
    customer = Customer(product_id=product_id, id=uuid.uuid4(), created_at=now, last_seen_at=now)
    session().add(customer)
    _refer(product_id, kind, digest, customer.id, scope)
    return customer.id


def _refer(
    product_id: uuid.UUID,
    kind: Kind,
    digest: bytes,
    customer_id: uuid.UUID,
    scope: bytes = NO_ACCOUNT,
    *,
    is_linked: bool = False,
) -> None:
    now = clock.now()
    session().add(
        CustomerReference(
            product_id=product_id,
            kind=kind,
            digest=digest,
            scope=scope,
            pepper_id=current_pepper().id,
            customer_id=customer_id,
            created_at=now,
            linked_at=now if is_linked else None,
        )
    )
    session().flush()


def _lock(product_id: uuid.UUID, customer_id: uuid.UUID) -> uuid.UUID:
    locks.lock(product_id, customer_id)
    update_last_seen(product_id, customer_id)
    return customer_id
