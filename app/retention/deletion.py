"""The DELETE statement of every purge and erasure: a bounded batch of rows."""

from collections.abc import Sequence

from sqlalchemy import TextClause, text


def delete_batch(
    table: str, key: Sequence[str], condition: str, *, order_by: str | None = None, follow_up: str = ""
) -> TextClause:
    """Return the statement that removes up to `:batch_size` rows and returns their number.

    `key` are the columns that name a row among those of `condition`. With `order_by` the lowest rows go first and
    rows that another transaction has locked are left to it; without, the statement waits for them. `follow_up` is a
    statement that reads the removed rows as `removed_rows`.
    """
    columns = ", ".join(key)
    order = (
        f"ORDER BY {order_by} LIMIT :batch_size FOR UPDATE SKIP LOCKED" if order_by else "LIMIT :batch_size FOR UPDATE"
    )
    # The condition stands at the DELETE too, so that it goes by the index that begins with the tenant.
    return text(f"""
        WITH due AS MATERIALIZED (
            SELECT {columns} FROM {table} WHERE {condition} {order}
        ), removed_rows AS (
            DELETE FROM {table} WHERE {condition} AND ({columns}) IN (SELECT {columns} FROM due) RETURNING *
        ){f", followed_up AS ({follow_up})" if follow_up else ""}
        SELECT count(*) FROM removed_rows
    """)
