"""Insert many reviews at once, each with the outbox row that promotes its interaction."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import text

from app.core.database import session
from app.core.wire.serialization import dumps
from app.interactions.sql import promotion_outbox

_INSERT = text(f"""
    WITH recorded AS (
        INSERT INTO reviews (environment_id, interaction_id, id, outcome, note, created_at)
        SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r (
            environment_id uuid, interaction_id uuid, id uuid, outcome text, note text, created_at timestamptz)
        RETURNING environment_id, interaction_id, created_at
    ), outbox AS ({promotion_outbox("recorded", "review")})
    SELECT count(*) FROM recorded
""")


def insert_reviews(rows: Sequence[dict[str, Any]]) -> None:
    """Insert reviews of interactions that have none; the job of promotions confirms the interactions."""
    session().execute(_INSERT, {"rows": dumps(rows).decode()})
