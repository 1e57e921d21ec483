"""Read consent decisions, by pages or of some interactions."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session
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

_OF_INTERACTIONS = text("""
    SELECT interaction_id, subject, decision, revision, question, decided_at FROM consent_decisions
    WHERE environment_id = ANY(:environment_ids) AND interaction_id = ANY(:interaction_ids)
    ORDER BY decided_at DESC, interaction_id LIMIT 100
""")


def list_decisions_of_interactions(
    environment_ids: Sequence[uuid.UUID], interaction_ids: Sequence[uuid.UUID]
) -> list[ConsentDecisionItem]:
    """Return the consent decisions of some interactions, newest first."""
    values = {"environment_ids": list(environment_ids), "interaction_ids": list(interaction_ids)}
    return [ConsentDecisionItem(*row) for row in session().execute(_OF_INTERACTIONS, values)]
