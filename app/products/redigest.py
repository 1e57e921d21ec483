"""Renew the digests of product keys under the newest pepper.

The text of a key is not stored, but a product key has a sealed signing secret, which is a digest of its text. A company
key has none; its digest is renewed when it is used.
"""

from typing import Any

from cryptography.fernet import InvalidToken
from sqlalchemy import or_, select, text

from app.core.database import session, transaction
from app.core.pepper import pepper_ring
from app.core.purposes import Pepper
from app.products.key_cache import key_cache
from app.products.models import Key

BATCH_SIZE = 100
"""Keys in one transaction, so that no request waits for the rows of a batch."""

# Only what was read: the key may have been used meanwhile.
_RENEW = text("UPDATE keys SET digest = :new_digest, pepper_id = :pepper_id WHERE id = :id AND digest = :digest")


def redigest_product_keys() -> int:
    """Renew the digests of product keys under an older pepper, in short transactions; returns how many there were."""
    last_id, count = "", 0
    while True:
        with transaction():
            keys = _next_keys(last_id)
            changes = [change for key in keys if (change := _change(key, pepper_ring().newest))]
            if changes:
                session().execute(_RENEW, changes)
        if not keys:
            return count
        last_id, count = keys[-1].id, count + len(changes)


def has_unrecognised_keys() -> bool:
    """Tell whether a key that is not revoked was made under a pepper that is not configured. Needs a transaction."""
    ids = [pepper.id for pepper in pepper_ring().peppers]
    statement = select(Key.id).where(Key.revoked_at.is_(None), Key.pepper_id.not_in(ids)).limit(1)
    return session().scalar(statement) is not None


def _next_keys(last_id: str) -> list[Key]:
    """Return the next product keys under an older or an unknown pepper; one that is not configured stays as it is."""
    older_ids = [pepper.id for pepper in pepper_ring().peppers[1:]]
    statement = select(Key).where(
        Key.sealed_secret.is_not(None), or_(Key.pepper_id.is_(None), Key.pepper_id.in_(older_ids)), Key.id > last_id
    )
    return list(session().scalars(statement.order_by(Key.id).limit(BATCH_SIZE)))


def _change(key: Key, pepper: Pepper) -> dict[str, Any] | None:
    """Return the new digest of a key, or None where no sealing secret opens its signing secret."""
    assert key.sealed_secret is not None
    try:
        secret = key_cache().seal.decrypt(key.sealed_secret)
    except InvalidToken:
        return None
    new_digest = pepper.digest_signing_secret(secret)
    return {"id": key.id, "digest": key.digest, "new_digest": new_digest, "pepper_id": pepper.id}
