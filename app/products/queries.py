"""Read settings of environments."""

import uuid
from datetime import datetime, timedelta

from sqlalchemy import select

from app.core import clock
from app.core.database import session
from app.products.models import Environment


def kept_since(environment_id: uuid.UUID) -> datetime:
    """Return the instant before which an environment keeps nothing, although it may not be removed yet."""
    statement = select(Environment.retention_days).where(Environment.id == environment_id)
    return clock.now() - timedelta(days=session().scalar(statement) or 0)
