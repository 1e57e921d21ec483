"""Insert many reports at once, each with the outbox row that promotes its interaction."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import text

from app.core.database import session
from app.core.wire.serialization import dumps
from app.interactions.sql import promotion_outbox

_INSERT = text(f"""
    WITH recorded AS (
        INSERT INTO reports
            (environment_id, interaction_id, id, summary, impact, confidence, findings, workaround, created_at)
        SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r (
            environment_id uuid, interaction_id uuid, id uuid, summary text, impact text, confidence double precision,
            findings jsonb, workaround jsonb, created_at timestamptz)
        RETURNING environment_id, interaction_id, created_at
    ), outbox AS ({promotion_outbox("recorded", "report")})
    SELECT count(*) FROM recorded
""")


def insert_reports(rows: Sequence[dict[str, Any]]) -> None:
    """Insert reports about interactions that have none; the job of promotions confirms the interactions."""
    session().execute(_INSERT, {"rows": dumps(rows).decode()})
