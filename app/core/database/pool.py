"""A pool that counts its connections in use and observes the waits for them."""

import time

from sqlalchemy import QueuePool, exc
from sqlalchemy.pool import PoolProxiedConnection

from app.core.metrics.counting import Metrics
from app.core.metrics.families import POOL_TIMEOUTS, POOL_WAIT


def observed_pool(metrics: Metrics) -> type[QueuePool]:
    """Return the class of pools that count with these metrics; SQLAlchemy makes a new pool of it when it closes one."""

    class ObservedPool(QueuePool):
        def connect(self) -> PoolProxiedConnection:
            started_at = time.perf_counter()
            try:
                return super().connect()
            except exc.TimeoutError:
                metrics.count(POOL_TIMEOUTS)
                raise
            finally:
                metrics.observe(POOL_WAIT, time.perf_counter() - started_at)

    return ObservedPool
