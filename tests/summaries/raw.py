"""Day counts with their pending changes, and counted from the stored interactions, both as of one moment."""

import uuid
from datetime import date
from typing import Any

from sqlalchemy import text

from app.core import clock
from app.core.database import session, transaction
from app.interactions import sql
from app.interactions.counts import COUNTS
from app.summaries.queries import DAY_COUNTS
from tests.factories import Company, bearer

Counts = dict[tuple[date, str, str], tuple[int, ...]]

_COUNTED = text(f"""
    SELECT day_on, operation, surface, {", ".join(f"sum({name})" for name in COUNTS)} FROM {DAY_COUNTS} counted
    WHERE environment_id = :environment_id GROUP BY 1, 2, 3
    HAVING ({", ".join(f"sum({name})" for name in COUNTS)}) <> (0, 0, 0, 0, 0)
""")
_STORED = text("""
    SELECT (received_at AT TIME ZONE 'UTC')::date, operation, surface, classification = 'confirmed', outcome
    FROM interactions WHERE environment_id = :environment_id
""")


_SOURCE = """
    (SELECT CAST(:environment_id AS uuid) AS environment_id, CAST(:interaction_id AS uuid) AS interaction_id,
            CAST(:now AS timestamptz) AS created_at, CAST(:surface AS text) AS surface, CAST(:operation AS text)
            AS operation, 200 AS status_code, CAST(NULL AS double precision) AS duration_ms,
            CAST(NULL AS text) AS runtime_hint)
"""
_STORE = (
    text(f"WITH {sql.insert_interactions(f'{_SOURCE} AS source')} SELECT FROM inserted"),
    text(f"WITH {sql.fill_interactions(_SOURCE)} SELECT FROM filled"),
)


def store_interaction(company: Company, number: int, surface: str, operation: str = "/a") -> None:
    """Store an interaction as a request for context does, within a transaction."""
    values = {
        "environment_id": company.environment_id,
        "interaction_id": uuid.UUID(int=number),
        "now": clock.now(),
        "surface": surface,
        "operation": operation,
    }
    for statement in _STORE:
        session().execute(statement, values)


def interaction_id(number: int) -> str:
    return str(uuid.UUID(int=number))


def capability(company: Company, number: int) -> str:
    return company.capability(interaction_id(number))


def send_report(client: Any, token: str) -> Any:
    return client.post("/api/v2/reports", json={"summary": "It worked well."}, headers=bearer(token))


def counts_and_expectation(environment_id: uuid.UUID) -> tuple[Counts, Counts]:
    with transaction():
        session().execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        values = {"environment_id": environment_id}
        counted: Counts = {tuple(row[:3]): tuple(map(int, row[3:])) for row in session().execute(_COUNTED, values)}
        stored: dict[Any, list[int]] = {}
        for day_on, operation, surface, is_confirmed, outcome in session().execute(_STORED, values):
            counts = stored.setdefault((day_on, operation, surface), [0, 0, 0, 0, 0])
            counts[0] += 1
            counts[1] += is_confirmed
            if outcome is not None:
                counts[2 + ("success", "partial", "failure").index(outcome)] += 1
    return counted, {key: tuple(counts) for key, counts in stored.items()}
