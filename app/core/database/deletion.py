"""Delete rows: all rows of a statement, or a bounded batch of a queue, a purge or an erasure."""

from collections.abc import Sequence

from sqlalchemy import CursorResult, Delete, TextClause, text

from app.core.database.transaction import session


def delete_batch(
    table: str, key: Sequence[str], condition: str, *, order_by: str | None = None, follow_ups: Sequence[str] = ()
) -> TextClause:
    """Return the statement that removes up to `:batch_size` rows and returns their number.

    `key` are the columns that name a row among those of `condition`. With `order_by` the lowest rows go first and
    rows that another transaction has locked are left to it; without, the statement waits for them. `follow_ups` are
    statements that read the removed rows as `removed_rows`.
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
        ){"".join(f", follow_up_{number} AS ({statement})" for number, statement in enumerate(follow_ups))}
        SELECT count(*) FROM removed_rows
    """)


def first_rows(table: str, condition: str = "true", *, skips_locked: bool = False) -> str:
    """Return the condition of a DELETE or UPDATE by which it goes to up to `:batch_size` rows of a queue.

    The first of each environment come first; with `skips_locked`, rows that another transaction has locked are left to
    it. Rows are found by their addresses and not by a join, which would be planned for one row: a queue is mostly empty
    when its statistics are taken.
    """
    lock = " FOR UPDATE SKIP LOCKED" if skips_locked else ""
    return f"""{table}.ctid = ANY(ARRAY(
        SELECT ctid FROM {table} WHERE {condition} ORDER BY environment_id, id LIMIT :batch_size{lock}))"""


def delete_rows(statement: Delete) -> int:
    """Execute a DELETE and return how many rows it removed."""
    result = session().execute(statement)
    assert isinstance(result, CursorResult)
    return result.rowcount
