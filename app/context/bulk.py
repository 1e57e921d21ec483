"""Insert retrievals of past times, as sample data needs them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert

from app.context.models import ContextRetrieval
from app.core.database import session


def insert_retrievals(retrievals: Sequence[dict[str, Any]]) -> None:
    """Insert retrievals."""
    if retrievals:
        session().execute(insert(ContextRetrieval), retrievals)
