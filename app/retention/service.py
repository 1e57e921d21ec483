"""Purging what is past its retention, in bites that nobody notices."""

import logging
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import TextClause, func, select, text

from app.core import clock
from app.core.database import session, transaction
from app.products.models import Environment
from app.retention.rules import BITE, BUDGET_S, ENRICHMENT, FEEDBACK, Rule

logger = logging.getLogger(__name__)

_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtext('retention'), hashtext(:name))")

# Who has not been named for as long as the product keeps anything, and of whom nothing is left but references.
_FORGET_CUSTOMERS = text("""
    WITH idle AS (
        SELECT id FROM customers c WHERE product_id = :product_id AND last_seen_at < :before
          AND NOT EXISTS (SELECT FROM customer_choices o WHERE o.product_id = c.product_id AND o.customer_id = c.id)
          AND NOT EXISTS (SELECT FROM signals s WHERE s.product_id = c.product_id AND s.customer_id = c.id)
        LIMIT :bite FOR UPDATE SKIP LOCKED
    ), unnamed AS (
        DELETE FROM customer_references WHERE product_id = :product_id AND customer_id IN (SELECT id FROM idle)
    ), gone AS (
        DELETE FROM customers WHERE product_id = :product_id AND id IN (SELECT id FROM idle) RETURNING 1
    )
    SELECT count(*) FROM gone
""")


@dataclass(frozen=True, slots=True)
class Purge:
    """What a run removed, and whether it came to the end."""

    removed: int
    is_complete: bool


def expire_feedback(budget_s: float = BUDGET_S) -> Purge:
    """Remove interactions, reviews, reports and sessions past the retention of their environment."""
    return _run(_bites(FEEDBACK), budget_s)


def expire_enrichment(budget_s: float = BUDGET_S) -> Purge:
    """Remove signals and requests past their end, retrievals past retention, and customers nobody names any more."""
    return _run(_bites_of_enrichment(), budget_s)


def _run(bites: Iterator[int], budget_s: float) -> Purge:
    deadline, removed = time.monotonic() + budget_s, 0
    for gone in bites:
        removed += gone
        if time.monotonic() > deadline:
            logger.warning("the purge ran out of time", extra={"removed": removed})
            return Purge(removed, is_complete=False)
    if removed:
        logger.info("purged", extra={"removed": removed})
    return Purge(removed, is_complete=True)


def _bites(rules: Sequence[Rule]) -> Iterator[int]:
    """Take bite after bite, of every environment and rule, and yield how many rows each was."""
    with transaction():
        environments = session().execute(select(Environment.id, Environment.retention_days)).all()
    for environment_id, days in environments:
        for rule in rules:
            age = timedelta(0) if rule.is_own_end else timedelta(days=days)
            while (gone := _bite(rule, environment_id, clock.now() - age)) > 0:
                yield gone


def _bites_of_enrichment() -> Iterator[int]:
    yield from _bites(ENRICHMENT)
    with transaction():
        longest = select(Environment.product_id, func.max(Environment.retention_days)).group_by(Environment.product_id)
        products = session().execute(longest).all()
    for product_id, days in products:
        while (gone := _forget_customers(product_id, clock.now() - timedelta(days=days))) > 0:
            yield gone


def _forget_customers(product_id: uuid.UUID, before: datetime) -> int:
    with transaction():
        values = {"product_id": product_id, "before": before, "bite": BITE}
        forgotten: int = session().execute(_FORGET_CUSTOMERS, values).scalar_one()
        return forgotten


def _bite(rule: Rule, environment_id: uuid.UUID, before: datetime) -> int:
    """Remove one bite; 0 when there is nothing left, or when another run is at it."""
    with transaction():
        if not session().execute(_LOCK, {"name": rule.table}).scalar_one():
            return 0
        values = {"environment_id": environment_id, "before": before, "bite": BITE}
        removed: int = session().execute(_delete(rule), values).scalar_one()
        return removed


def _delete(rule: Rule) -> TextClause:
    key = ", ".join(rule.key)
    left = f", left_behind AS ({rule.leaves})" if rule.leaves else ""
    return text(f"""
        WITH gone AS (
            DELETE FROM {rule.table} WHERE environment_id = :environment_id AND ({key}) IN (
                SELECT {key} FROM {rule.table}
                WHERE environment_id = :environment_id AND {rule.clock} < :before ORDER BY {rule.clock} LIMIT :bite)
            RETURNING {key}, {rule.clock} AS at
        ){left}
        SELECT count(*) FROM gone
    """)
