"""Collect the metrics of all web processes, of the database and of the broker."""

import logging

from sqlalchemy import exc

from app.core.database import transaction
from app.core.errors import Unavailable
from app.core.metrics.counting import find_metrics
from app.core.metrics.readings import Reading
from app.health.metrics import read_servers
from app.metrics.sources import SOURCES, zeros

logger = logging.getLogger(__name__)


def collect() -> bytes:
    """Return every metric in Prometheus' text format; without the database, those that do not need it."""
    metrics = find_metrics()
    assert metrics is not None
    try:
        readings, has_database = _read_database(), True
    except (Unavailable, exc.TimeoutError) as error:
        readings, has_database = _no_readings(error), False
    except exc.DBAPIError as error:
        # It answers: a migration is missing, or a statement took too long.
        readings, has_database = _no_readings(error), True
    return metrics.format([*read_servers(has_database=has_database), *readings], zeros())


def _read_database() -> list[Reading]:
    with transaction():
        return [reading for read in SOURCES for reading in read()]


def _no_readings(error: Exception) -> list[Reading]:
    logger.warning("the metrics of the database cannot be read", extra={"error": type(error).__name__})
    return []
