"""Insert triage of past times, as sample data needs it."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert

from app.core.database import session
from app.triage.models import Triage, TriageComment


def insert_triages(triages: Sequence[dict[str, Any]], comments: Sequence[dict[str, Any]]) -> None:
    """Insert the triage of reviews and reports that have none, and comments in their order."""
    if triages:
        session().execute(insert(Triage), triages)
    if comments:
        session().execute(insert(TriageComment), comments)
