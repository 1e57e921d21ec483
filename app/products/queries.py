"""Read settings of environments, and their keys."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import func, select, text

from app.core import clock
from app.core.database import session
from app.core.errors import NotFound
from app.products.models import Environment, Product
from app.products.rules import DEFAULT_RETENTION_DAYS, EXPIRING_WITHIN


class NoSuchKey(NotFound):
    """The environment has no key with this id."""

    sentence = "There is no key with this id in this environment."


def filter_workspaces_in_use(workspace_ids: Sequence[uuid.UUID]) -> set[uuid.UUID]:
    """Return those of some workspaces that have a product with an environment."""
    statement = select(Product.workspace_id).join(Environment).where(Product.workspace_id.in_(workspace_ids)).distinct()
    return set(session().scalars(statement))


class KeyItem(NamedTuple):
    """A key without its text, which is not stored."""

    id: str
    kind: str
    state: str
    has_company_right: bool
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None
    refused_at: datetime | None
    """When it was last presented and not accepted, to the minute."""
    replaces_id: str | None


_KEYS = f"""
    SELECT {", ".join(KeyItem._fields)} FROM (
        SELECT *, CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= :now THEN 'expired'
                       WHEN expires_at <= :soon THEN 'expiring' ELSE 'active' END AS state
        FROM keys WHERE environment_id = :environment_id
    ) k
"""

# A place that is no key's of this environment is behind everything.
_LIST_KEYS = text(f"""
    {_KEYS} WHERE (CAST(:kind AS text) IS NULL OR kind = :kind) AND (CAST(:state AS text) IS NULL OR state = :state)
      AND (CAST(:after AS text) IS NULL OR (created_at, id) < (
          SELECT created_at, id FROM keys WHERE environment_id = :environment_id AND id = :after))
    ORDER BY created_at DESC, id DESC LIMIT :limit
""")
_FIND_KEY = text(f"{_KEYS} WHERE id = :key_id")
_LIST_PRODUCT_AND_REFUSED_KEYS = text(f"""
    ({_KEYS} WHERE kind = 'product' ORDER BY created_at DESC, id DESC LIMIT :limit)
    UNION
    ({_KEYS} WHERE refused_at IS NOT NULL ORDER BY refused_at DESC, id DESC LIMIT :limit)
    ORDER BY created_at DESC, id DESC
""")


def list_keys(
    environment_id: uuid.UUID, limit: int, *, after: str | None = None, filters: Mapping[str, str] | None = None
) -> list[KeyItem]:
    """Return keys of an environment, newest first, behind that with the id `after`; filters are `kind` and `state`."""
    parameters = {"kind": None, "state": None, **(filters or {}), "limit": limit, "after": after}
    rows = session().execute(_LIST_KEYS, {**parameters, **_states(environment_id)})
    return [KeyItem(*row) for row in rows]


def list_product_and_refused_keys(environment_id: uuid.UUID, limit: int) -> list[KeyItem]:
    """Return the newest product keys of an environment and its last refused keys of any kind, up to `limit` of each."""
    rows = session().execute(_LIST_PRODUCT_AND_REFUSED_KEYS, {"limit": limit, **_states(environment_id)})
    return [KeyItem(*row) for row in rows]


def get_key(environment_id: uuid.UUID, key_id: str) -> KeyItem:
    """Return a key of an environment, or raise `NoSuchKey`."""
    row = session().execute(_FIND_KEY, {"key_id": key_id, **_states(environment_id)}).first()
    if row is None:
        raise NoSuchKey
    return KeyItem(*row)


def _states(environment_id: uuid.UUID) -> dict[str, object]:
    now = clock.now()
    return {"environment_id": environment_id, "now": now, "soon": now + EXPIRING_WITHIN}


def longest_retention() -> tuple[int, int]:
    """Return the longest retention of any environment in days: of feedback, and of evidence."""
    longest = select(func.max(Environment.retention_days), func.max(Environment.evidence_retention_days))
    feedback_days, evidence_days = session().execute(longest).one()
    return feedback_days or DEFAULT_RETENTION_DAYS, evidence_days or DEFAULT_RETENTION_DAYS


def kept_since(environment_id: uuid.UUID) -> datetime:
    """Return the instant before which an environment keeps nothing, although it may not be removed yet."""
    statement = select(Environment.retention_days).where(Environment.id == environment_id)
    return clock.now() - timedelta(days=session().scalar(statement) or 0)
