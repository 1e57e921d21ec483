"""Read consent decisions by pages."""

import uuid
from datetime import datetime
from typing import NamedTuple

from app.core.database.pages import PagedTable


class ConsentDecisionItem(NamedTuple):
    """A decision, under the opaque name that the SDK derived."""

    interaction_id: uuid.UUID
    subject: str | None
    decision: str
    revision: int | None
    question: str
    decided_at: datetime


CONSENT_DECISIONS = PagedTable(
    "consent_decisions",
    ConsentDecisionItem,
    {name: f"f.{name}" for name in ConsentDecisionItem._fields},
    filters={},
    instant="decided_at",
)
