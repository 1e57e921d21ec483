"""Insert audit entries of past times, as sample data needs them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert

from app.accounts.models import AuditEntry
from app.core.database import session


def insert_audit_entries(entries: Sequence[dict[str, Any]]) -> None:
    """Insert audit entries in their order."""
    session().execute(insert(AuditEntry), entries)
