"""Remove what is past its retention, in short transactions."""

import logging
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Mapped

from app.core import clock
from app.core.database import session, transaction
from app.core.database.deletion import delete_batch
from app.core.retention import Group, RetentionRule
from app.customers.erasure import idle_deletion
from app.enrichment.sql import CUSTOMER_HAS_NO_ROWS
from app.events import service as events
from app.events.sql import queue_purge
from app.products.models import Environment
from app.retention.declarations import BATCH_SIZE, BUDGET_S, rules_of

MAX_PAUSE_S = 0.1

logger = logging.getLogger(__name__)

PURGED_TABLES = {"interactions", "sessions", "reviews", "reports", "evidence_events"}
"""Tables of which a company is told by `retention.purged` how many rows its retention removed."""

_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtext('retention'), hashtext(:name))")

# Who has not been named for as long as the product keeps anything, and of whom nothing is left but references.
_FORGET_CUSTOMERS = idle_deletion(CUSTOMER_HAS_NO_ROWS)


@dataclass(frozen=True, slots=True)
class Purge:
    """How many rows a run removed, and whether it removed all that were due."""

    row_count: int
    is_complete: bool


def expire_feedback(budget_s: float = BUDGET_S) -> Purge:
    """Remove what is past the retention of its environment, and customers whom nobody names any more."""
    return _run(chain(_batches(Group.FEEDBACK), _customer_batches()), budget_s)


def expire_evidence(budget_s: float = BUDGET_S) -> Purge:
    """Remove evidence past the retention of its environment."""
    return _run(_batches(Group.EVIDENCE, Environment.evidence_retention_days), budget_s)


def expire_enrichment(budget_s: float = BUDGET_S) -> Purge:
    """Remove signals and requests past their expiry or retention, and retrievals past their retention."""
    return _run(_batches(Group.ENRICHMENT), budget_s)


def expire_sign_ins(budget_s: float = BUDGET_S) -> Purge:
    """Remove login sessions, sign-in counters and invitations that have expired."""
    return _run(_expired_batches(Group.SIGN_INS), budget_s)


def _run(batches: Iterator[int], budget_s: float) -> Purge:
    started_at = time.monotonic()
    deadline, row_count = started_at + budget_s, 0
    for batch_row_count in batches:
        row_count += batch_row_count
        if time.monotonic() > deadline:
            logger.warning("the purge ran out of time", extra={"removed": row_count})
            events.notify_webhooks()
            return Purge(row_count, is_complete=False)
        # As long as the batch took, so that requests have half of the server in a purge of many batches.
        time.sleep(min(time.monotonic() - started_at, MAX_PAUSE_S))
        started_at = time.monotonic()
    if row_count:
        logger.info("purged", extra={"removed": row_count})
        events.notify_webhooks()
    return Purge(row_count, is_complete=True)


def _batches(group: Group, retention: Mapped[int] = Environment.retention_days) -> Iterator[int]:
    """Apply the rules of a group to every environment; yields the number of rows of each batch."""
    with transaction():
        environments = session().execute(select(Environment.id, Environment.product_id, retention)).all()
    for environment_id, product_id, days in environments:
        for rule in rules_of(group):
            age = timedelta(0) if rule.is_expiry else timedelta(days=days)
            # Rows of customers are those of a product first.
            product = {"product_id": product_id} if "product_id" in rule.key else {}
            while (row_count := _remove(rule, clock.now() - age, environment_id=environment_id, **product)) > 0:
                yield row_count


def _expired_batches(group: Group) -> Iterator[int]:
    """Apply the rules of tables without an environment; yields the number of rows of each batch."""
    for rule in rules_of(group):
        while (row_count := _remove(rule, clock.now())) > 0:
            yield row_count


def _remove(rule: RetentionRule, before: datetime, **tenant: uuid.UUID) -> int:
    """Remove one batch of a tenant: 0 if there is nothing left, or if another run is removing rows of this table."""
    conditions = [f"{column} = :{column}" for column in tenant]
    condition = " AND ".join([*conditions, f"{rule.instant} {'<=' if rule.is_expiry else '<'} :before"])
    follow_ups = rule.follow_ups
    if rule.table in PURGED_TABLES and not rule.is_expiry:
        follow_ups += (queue_purge("removed_rows", rule.table),)
    statement = delete_batch(rule.table, rule.key, condition, order_by=rule.instant, follow_ups=follow_ups)
    with transaction():
        if not session().execute(_LOCK, {"name": rule.table}).scalar_one():
            return 0
        values: dict[str, Any] = {**tenant, "before": before, "batch_size": BATCH_SIZE, "now": clock.now()}
        row_count: int = session().execute(statement, values).scalar_one()
        return row_count


def _customer_batches() -> Iterator[int]:
    with transaction():
        longest_retention = select(Environment.product_id, func.max(Environment.retention_days)).group_by(
            Environment.product_id
        )
        products = session().execute(longest_retention).all()
    for product_id, days in products:
        # When a customer was last seen is stored to the day.
        while (row_count := _forget_customers(product_id, clock.now() - timedelta(days=days + 1))) > 0:
            yield row_count


def _forget_customers(product_id: uuid.UUID, before: datetime) -> int:
    with transaction():
        values = {"product_id": product_id, "before": before, "batch_size": BATCH_SIZE}
        row_count: int = session().execute(_FORGET_CUSTOMERS, values).scalar_one()
        return row_count
