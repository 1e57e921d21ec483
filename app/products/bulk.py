"""Insert products, environments and keys with ids and times of the caller's own, as sample data needs them."""

import secrets
from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert

from app.core.database import session
from app.core.pepper import pepper_ring
from app.products.key_cache import key_cache
from app.products.models import Environment, Key, Product
from app.products.rules import KeyKind

DIGEST_BYTES = 32


def insert_products(products: Sequence[dict[str, Any]], environments: Sequence[dict[str, Any]]) -> None:
    """Insert products with their environments."""
    session().execute(insert(Product), products)
    session().execute(insert(Environment), environments)


def insert_unusable_keys(keys: Sequence[dict[str, Any]]) -> None:
    """Insert keys that nobody has: their digests are random, so that no text is recognised as one of them."""
    seal, pepper_id = key_cache().seal, pepper_ring().newest.id
    rows = [
        {
            **key,
            "digest": secrets.token_bytes(DIGEST_BYTES),
            "pepper_id": pepper_id,
            "sealed_secret": seal.encrypt(secrets.token_bytes(DIGEST_BYTES))
            if key["kind"] == KeyKind.PRODUCT
            else None,
        }
        for key in keys
    ]
    session().execute(insert(Key), rows)
