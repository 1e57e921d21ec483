"""Read interactions by pages."""

import uuid
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.core.database.pages import PagedTable


class InteractionItem(NamedTuple):
    """An interaction as it is now."""

    interaction_id: uuid.UUID
    surface: str
    operation: str
    classification: str
    confirmation_method: str | None
    confirmed_at: datetime | None
    received_at: datetime
    occurred_at: datetime | None
    status_code: int | None
    duration_ms: float | None
    customer_ref: str | None
    runtime_hint: str | None
    runtime_hint_source: str | None
    session_ref: str | None
    session_source: str | None


_COLUMNS = {
    name: {"interaction_id": "f.id", "confirmation_method": "f.confirmed_by"}.get(name, f"f.{name}")
    for name in InteractionItem._fields
}

INTERACTIONS = PagedTable(
    "interactions",
    InteractionItem,
    _COLUMNS,
    filters={"operation": "f.operation", "classification": "f.classification", "surface": "f.surface"},
    instant="received_at",
    id="id",
)

_OLDEST_PROMOTION = text(
    "SELECT created_at FROM promotions WHERE environment_id = :environment_id ORDER BY environment_id, id LIMIT 1"
)


def find_oldest_promotion_at(environment_id: uuid.UUID) -> datetime | None:
    """Return when the promotion that has waited longest was queued, to within a commit's delay; None for none."""
    created_at: datetime | None = session().scalar(_OLDEST_PROMOTION, {"environment_id": environment_id})
    return created_at
