"""Insert decisions and outcomes of past times, as sample data needs them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert

from app.core.database import session
from app.personalization.models import PersonalizationDecision, PersonalizationOutcome


def insert_decisions(decisions: Sequence[dict[str, Any]], outcomes: Sequence[dict[str, Any]]) -> None:
    """Insert decisions and their outcomes."""
    if decisions:
        session().execute(insert(PersonalizationDecision), decisions)
    if outcomes:
        session().execute(insert(PersonalizationOutcome), outcomes)
