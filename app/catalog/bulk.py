"""Insert fields of past times, as sample data needs them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert

from app.catalog.models import FieldDefinition
from app.core.database import session


def insert_fields(fields: Sequence[dict[str, Any]]) -> None:
    """Insert fields that the product does not have; what `service.put` would refuse must not be among them."""
    session().execute(insert(FieldDefinition), fields)
