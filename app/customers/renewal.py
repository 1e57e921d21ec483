"""Renew the stored digests of references that come again, under the newest pepper.

The references themselves are not stored, so a digest can be renewed only while the reference is at hand.
"""

import uuid
from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.customers import locks
from app.customers.linking import link
from app.customers.locks import CustomerGone
from app.customers.rules import NO_ACCOUNT, Digests, Kind, References

_FIND = text("""
    SELECT digest, scope, pepper_id, customer_id FROM customer_references
    WHERE product_id = :product_id AND kind = :kind AND digest = ANY(:digests) LIMIT 1000
""")

_RENEW = text("""
    UPDATE customer_references SET digest = :new_digest, scope = :new_scope, pepper_id = :pepper_id
    WHERE product_id = :product_id AND kind = :kind AND digest = :digest AND scope = :scope
""")

_REMOVE = text("""
    DELETE FROM customer_references
    WHERE product_id = :product_id AND kind = :kind AND digest = :digest AND scope = :scope
""")


class _ReferenceKey(NamedTuple):
    """What identifies a reference within its product; the scope of a user is the digest of their account."""

    kind: str
    digest: bytes
    scope: bytes


class _Reference(NamedTuple):
    """What is stored of a reference."""

    customer_id: uuid.UUID
    pepper_id: bytes | None


class _Renewal(NamedTuple):
    """A stored reference and what it becomes."""

    key: _ReferenceKey
    new_key: _ReferenceKey
    pepper_id: bytes | None


def renew(product_id: uuid.UUID, references: References, pepper_id: bytes) -> bool:
    """Renew what is stored of references, whose advisory locks are held; tells whether customers were linked.

    A reference is stored twice, with two customers, only if it arrived first at two processes of which one did not
    have the pepper of the other; the older customer becomes part of the newer.
    """

    def attempt() -> bool:
        stored = _find(product_id, references)
        plans = (_plan(key, reference.pepper_id, references, pepper_id) for key, reference in stored.items())
        renewals = [renewal for renewal in plans if renewal]
        if not renewals:
            return False
        # The customer is locked before what belongs to it, and is looked up again under the lock.
        locks.lock_for_removal(product_id, *{reference.customer_id for reference in stored.values()})
        if _find(product_id, references) != stored:
            raise CustomerGone
        return _apply(product_id, renewals, {key: reference.customer_id for key, reference in stored.items()})

    return locks.retry(attempt)


def _find(product_id: uuid.UUID, references: References) -> dict[_ReferenceKey, _Reference]:
    return {
        _ReferenceKey(kind, bytes(row.digest), bytes(row.scope)): _Reference(
            row.customer_id, None if row.pepper_id is None else bytes(row.pepper_id)
        )
        for kind, digests in _pairs(references)
        for row in session().execute(_FIND, {"product_id": product_id, "kind": kind, "digests": digests})
    }


def _pairs(references: References) -> Iterable[tuple[Kind, Digests]]:
    kinds = {Kind.ACCOUNT: references.account, Kind.USER: references.user, Kind.ANONYMOUS: references.anonymous}
    return [(kind, digests) for kind, digests in kinds.items() if digests]


def _plan(
    key: _ReferenceKey, stored_pepper_id: bytes | None, references: References, pepper_id: bytes
) -> _Renewal | None:
    """Return what a stored reference becomes, or None if it stays. The first of its digests is the newest pepper's.

    The scope of a user is renewed only if its account was sent too; until then the row needs the older pepper.
    """
    accounts = references.account or []
    digests = dict(_pairs(references))[Kind(key.kind)]
    scope = accounts[0] if key.scope in accounts else key.scope
    is_complete = scope == NO_ACCOUNT or key.scope in accounts
    new_pepper_id = pepper_id if is_complete else stored_pepper_id
    new_key = _ReferenceKey(key.kind, digests[0], scope)
    return None if (new_key, new_pepper_id) == (key, stored_pepper_id) else _Renewal(key, new_key, new_pepper_id)


def _apply(product_id: uuid.UUID, renewals: list[_Renewal], customer_ids: dict[_ReferenceKey, uuid.UUID]) -> bool:
    has_linked = False
    for renewal in renewals:
        values = {"product_id": product_id, **renewal.key._asdict()}
        if renewal.new_key == renewal.key or renewal.new_key not in customer_ids:
            new_values = {"new_digest": renewal.new_key.digest, "new_scope": renewal.new_key.scope}
            session().execute(_RENEW, {**values, **new_values, "pepper_id": renewal.pepper_id})
            customer_ids[renewal.new_key] = customer_ids.pop(renewal.key)
            continue
        session().execute(_REMOVE, values)
        older_id, newer_id = customer_ids.pop(renewal.key), customer_ids[renewal.new_key]
        if older_id != newer_id:
            link(product_id, older_id, newer_id)
            customer_ids = {key: newer_id if id_ == older_id else id_ for key, id_ in customer_ids.items()}
            has_linked = True
    return has_linked
