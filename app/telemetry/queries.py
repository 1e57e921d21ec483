"""Read the inbox."""

import uuid
from datetime import datetime

from sqlalchemy import text

from app.core.database import session

_OLDEST_BATCH = text("""
    SELECT received_at FROM telemetry_inbox WHERE environment_id = :environment_id AND parked_at IS NULL
    ORDER BY environment_id, id LIMIT 1
""")


def find_oldest_batch_at(environment_id: uuid.UUID) -> datetime | None:
    """Return when the batch that has waited longest arrived, to within a commit's delay; None for none.

    A batch that cannot be persisted does not count: it would wait for ever.
    """
    received_at: datetime | None = session().scalar(_OLDEST_BATCH, {"environment_id": environment_id})
    return received_at
