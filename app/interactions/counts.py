"""Counts of interactions by day that are exact at every moment.

What an interaction counts for follows from its own row: its day of arrival in UTC, operation, surface, classification
and outcome. Whatever changes such rows records the change in counts in the same statement, and the roll-up of
`app/summaries` moves the changes into the day counts in one transaction; so a reader who adds both up in one statement
counts each interaction once, whoever is at work. Only a day of before an upgrade is counted anew, once
(`uncounted_days.py`).
"""

from app.core.database.deletion import first_rows

COUNTS = ("interactions", "confirmed", "success", "partial", "failure")
COUNT_COLUMNS = f"environment_id, day_on, operation, surface, {', '.join(COUNTS)}"
COUNTED_COLUMNS = ("environment_id", "received_at", "operation", "surface", "classification", "outcome")
"""The columns of an interaction by which it is counted."""

_GROUPS = "environment_id, (received_at AT TIME ZONE 'UTC')::date AS day_on, operation, surface"
_CONDITIONS = ("classification = 'confirmed'", "outcome = 'success'", "outcome = 'partial'", "outcome = 'failure'")


def record_added(rows: str) -> str:
    """Return the statement that records what `rows`, which have the counted columns, add to the counts."""
    return f"INSERT INTO interaction_changes ({COUNT_COLUMNS}) {count_rows(rows)}"


def record_each_added(rows: str) -> str:
    """Return the statement that records the same in a change for each row, which is cheaper where there is but one."""
    counts = ", ".join(f"(({condition}) IS TRUE)::int" for condition in _CONDITIONS)
    return f"INSERT INTO interaction_changes ({COUNT_COLUMNS}) SELECT {_GROUPS}, 1, {counts} FROM {rows}"


def record_removed(rows: str) -> str:
    """Return the statement that records what `rows`, which have the counted columns, take from the counts."""
    return f"INSERT INTO interaction_changes ({COUNT_COLUMNS}) {count_rows(rows, '-')}"


def record_changed(before: str, after: str) -> str:
    """Return the statement that records what updates change; both have the counted columns of the same rows.

    `before` has what a row was when the update locked it, which is not always what the statement's snapshot shows.
    """
    columns = ", ".join(COUNTED_COLUMNS)
    sums = ", ".join(
        ["sum(sign) AS interactions"]
        + [
            f"coalesce(sum(sign) FILTER (WHERE {condition}), 0) AS {name}"
            for name, condition in zip(COUNTS[1:], _CONDITIONS, strict=True)
        ]
    )
    return f"""
        INSERT INTO interaction_changes ({COUNT_COLUMNS})
        SELECT * FROM (
            SELECT {_GROUPS}, {sums} FROM (
                SELECT {columns}, 1 AS sign FROM {after} UNION ALL SELECT {columns}, -1 FROM {before}
            ) signed_rows GROUP BY 1, 2, 3, 4
        ) net WHERE ({", ".join(COUNTS)}) <> (0, 0, 0, 0, 0)
    """


def count_rows(rows: str, sign: str = "") -> str:
    """Return the query that counts `rows`, which have the counted columns, by day, operation and surface."""
    counts = ", ".join(f"{sign}count(*) FILTER (WHERE {condition})" for condition in _CONDITIONS)
    return f"SELECT {_GROUPS}, {sign}count(*), {counts} FROM {rows} GROUP BY 1, 2, 3, 4"


CLAIM_CHANGES = f"""
    DELETE FROM interaction_changes WHERE {first_rows("interaction_changes")}
    RETURNING {COUNT_COLUMNS}
"""
"""Removes a batch of changes, the oldest of each environment first, and returns them."""

PENDING_CHANGES = f"SELECT {COUNT_COLUMNS} FROM interaction_changes"
