"""Removing a product with everything that belongs to it."""

import time
import uuid

from sqlalchemy import select, text

from app.accounts.service import COMMAND_LINE, record_audit_entry
from app.core.database import session, transaction
from app.core.errors import NotFound
from app.products.key_cache import CACHE_TTL_S
from app.products.models import Environment, Key, Product
from app.products.service import revoke_key
from app.retention.rules import BATCH_SIZE, ENVIRONMENT_TABLES, PRODUCT_TABLES


def erase_product(product_id: uuid.UUID, actor: str = COMMAND_LINE) -> int:
    """Remove a product, its environments and keys, and every row of theirs; returns how many rows of theirs there were.

    Keys end first, so that nothing more comes in; the product itself goes last, so that an erasure that was
    interrupted can be begun again.
    """
    with transaction():
        if session().get(Product, product_id) is None:
            raise NotFound("There is no product with this id.")
        environments = list(session().scalars(select(Environment.id).where(Environment.product_id == product_id)))
        for key_id in session().scalars(select(Key.id).where(Key.environment_id.in_(environments))):
            revoke_key(key_id, actor)
    # Every process may still know a key for this long, and what it accepted until then is removed too.
    time.sleep(CACHE_TTL_S * 1.5)
    removed = sum(
        _erase(table, "environment_id", environment_id)
        for environment_id in environments
        for table in ENVIRONMENT_TABLES
    )
    removed += sum(_erase(table, "product_id", product_id) for table in PRODUCT_TABLES)
    with transaction():
        product = session().get_one(Product, product_id)
        record_audit_entry(product.workspace_id, actor, "product.deleted", str(product_id), name=product.name)
        session().delete(product)
    return removed


def _erase(table: str, tenant: str, tenant_id: uuid.UUID) -> int:
    batch = text(f"""
        WITH gone AS (DELETE FROM {table} WHERE {tenant} = :tenant_id AND ctid IN (
            SELECT ctid FROM {table} WHERE {tenant} = :tenant_id LIMIT {BATCH_SIZE}) RETURNING 1)
        SELECT count(*) FROM gone
    """)
    removed = 0
    while True:
        with transaction():
            gone: int = session().execute(batch, {"tenant_id": tenant_id}).scalar_one()
        removed += gone
        if gone < BATCH_SIZE:
            return removed
