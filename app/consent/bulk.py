"""Insert consent decisions of past times, as sample data needs them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert

from app.consent.models import ConsentDecision, ConsentSubject
from app.core.database import session


def insert_decisions(subjects: Sequence[dict[str, Any]], decisions: Sequence[dict[str, Any]]) -> None:
    """Insert subjects and the decisions of which they have the last."""
    if subjects:
        session().execute(insert(ConsentSubject), subjects)
    if decisions:
        session().execute(insert(ConsentDecision), decisions)
