"""Erase a product with everything that belongs to it."""

import time
import uuid
from collections.abc import Iterator

from sqlalchemy import Table

from app.accounts.service import COMMAND_LINE_ACTOR
from app.core.database import Base, session, transaction
from app.core.database.deletion import delete_batch
from app.products import service as products
from app.products.key_cache import CACHE_TTL_S
from app.retention.declarations import BATCH_SIZE

TENANT_COLUMNS = ("environment_id", "product_id")


def tenant_tables() -> Iterator[tuple[Table, str]]:
    """Yield every table that leads with an environment or a product and is not deleted with it, and which of the two.

    A row that refers to another comes before it.
    """
    for table in reversed(Base.metadata.sorted_tables):
        tenant = next(iter(table.primary_key.columns)).name
        is_cascaded = any(key.ondelete == "CASCADE" for key in table.foreign_keys)
        if tenant in TENANT_COLUMNS and not is_cascaded:
            yield table, tenant


def erase_product(product_id: uuid.UUID, actor: str = COMMAND_LINE_ACTOR) -> int:
    """Remove a product, its environments and keys, and every row of theirs; returns the number of these rows.

    Keys are revoked first, so that nothing more is accepted; the product itself is deleted last, so that an erasure
    that was interrupted can be repeated.
    """
    with transaction():
        environment_ids = products.list_environment_ids(product_id=products.get_product(product_id).id)
        products.revoke_keys(product_id, actor)
    # Every process may have a key cached for this long, and what it accepted until then is removed too.
    time.sleep(CACHE_TTL_S * 1.5)
    row_count = _erase_rows({"environment_id": environment_ids, "product_id": [product_id]})
    with transaction():
        products.delete_product(product_id, actor)
    return row_count


def _erase_rows(tenant_ids: dict[str, list[uuid.UUID]]) -> int:
    """Remove all rows of some tenants; returns their number.

    A job may be moving rows from one table to another. Its locks are waited for, and what it moved into a table that
    was emptied before is removed by a later pass, so the last two passes remove nothing.
    """
    row_count, empty_passes = 0, 0
    while empty_passes < 2:
        pass_row_count = sum(
            _erase(table, tenant, tenant_id) for table, tenant in tenant_tables() for tenant_id in tenant_ids[tenant]
        )
        row_count += pass_row_count
        empty_passes = 0 if pass_row_count else empty_passes + 1
    return row_count


def _erase(table: Table, tenant: str, tenant_id: uuid.UUID) -> int:
    key = [column.name for column in table.primary_key.columns]
    statement = delete_batch(table.name, key, f"{tenant} = :tenant_id")
    row_count = 0
    while True:
        with transaction():
            values = {"tenant_id": tenant_id, "batch_size": BATCH_SIZE}
            batch_row_count: int = session().execute(statement, values).scalar_one()
        row_count += batch_row_count
        if batch_row_count < BATCH_SIZE:
            return row_count
