"""Purging what is past its retention, in batches that nobody notices."""

import logging
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from sqlalchemy import TextClause, func, select, text
from sqlalchemy.orm import Mapped

from app.core import clock
from app.core.database import session, transaction
from app.products.models import Environment
from app.retention.rules import BATCH_SIZE, BUDGET_S, ENRICHMENT, EVIDENCE, FEEDBACK, SIGN_INS, Ending, Rule

logger = logging.getLogger(__name__)

_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtext('retention'), hashtext(:name))")

# Who has not been named for as long as the product keeps anything, and of whom nothing is left but references.
_FORGET_CUSTOMERS = text("""
    WITH idle AS (
        SELECT id FROM customers c WHERE product_id = :product_id AND last_seen_at < :before
          AND NOT EXISTS (SELECT FROM customer_choices o WHERE o.product_id = c.product_id AND o.customer_id = c.id
                          AND o.decision = 'declined')
          AND NOT EXISTS (SELECT FROM signals s WHERE s.product_id = c.product_id AND s.customer_id = c.id)
          AND NOT EXISTS (SELECT FROM enrichment_requests r WHERE r.product_id = c.product_id AND r.customer_id = c.id)
        LIMIT :batch_size FOR UPDATE SKIP LOCKED
    ), unnamed AS (
        DELETE FROM customer_references WHERE product_id = :product_id AND customer_id IN (SELECT id FROM idle)
    ), unsaid AS (
        DELETE FROM customer_choices WHERE product_id = :product_id AND customer_id IN (SELECT id FROM idle)
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
    """Remove what is past the retention of its environment, and customers whom nobody names any more."""
    return _run(chain(_batches(FEEDBACK), _bites_of_customers()), budget_s)


def expire_evidence(budget_s: float = BUDGET_S) -> Purge:
    """Remove evidence past the retention of its environment."""
    return _run(_batches(EVIDENCE, Environment.evidence_retention_days), budget_s)


def expire_enrichment(budget_s: float = BUDGET_S) -> Purge:
    """Remove signals and requests past their end or retention, and retrievals past their retention."""
    return _run(_batches(ENRICHMENT), budget_s)


def _run(batches: Iterator[int], budget_s: float) -> Purge:
    deadline, removed = time.monotonic() + budget_s, 0
    for gone in batches:
        removed += gone
        if time.monotonic() > deadline:
            logger.warning("the purge ran out of time", extra={"removed": removed})
            return Purge(removed, is_complete=False)
    if removed:
        logger.info("purged", extra={"removed": removed})
    return Purge(removed, is_complete=True)


def _batches(rules: Sequence[Rule], retention: Mapped[int] = Environment.retention_days) -> Iterator[int]:
    """Take batch after batch, of every environment and rule, and yield how many rows each was."""
    with transaction():
        environments = session().execute(select(Environment.id, retention)).all()
    for environment_id, days in environments:
        for rule in rules:
            age = timedelta(0) if rule.is_own_end else timedelta(days=days)
            while (gone := _batch(rule, environment_id, clock.now() - age)) > 0:
                yield gone


def _bites_of_customers() -> Iterator[int]:
    with transaction():
        longest = select(Environment.product_id, func.max(Environment.retention_days)).group_by(Environment.product_id)
        products = session().execute(longest).all()
    for product_id, days in products:
        # To the day is when somebody was seen.
        while (gone := _forget_customers(product_id, clock.now() - timedelta(days=days + 1))) > 0:
            yield gone


def _forget_customers(product_id: uuid.UUID, before: datetime) -> int:
    with transaction():
        values = {"product_id": product_id, "before": before, "batch_size": BATCH_SIZE}
        forgotten: int = session().execute(_FORGET_CUSTOMERS, values).scalar_one()
        return forgotten


def _batch(rule: Rule, environment_id: uuid.UUID, before: datetime) -> int:
    """Remove one batch; 0 when there is nothing left, or when another run is at it."""
    with transaction():
        if not session().execute(_LOCK, {"name": rule.table}).scalar_one():
            return 0
        values = {"environment_id": environment_id, "before": before, "batch_size": BATCH_SIZE}
        removed: int = session().execute(_delete(rule), values).scalar_one()
        return removed


def _delete(rule: Rule) -> TextClause:
    key = ", ".join(rule.key)
    left = f", left_behind AS ({rule.leaves})" if rule.leaves else ""
    return text(f"""
        WITH due AS MATERIALIZED (
            SELECT {key} FROM {rule.table} WHERE environment_id = :environment_id AND {rule.clock} < :before
            ORDER BY {rule.clock} LIMIT :batch_size FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM {rule.table} WHERE environment_id = :environment_id AND ({key}) IN (SELECT {key} FROM due)
            RETURNING *, {rule.clock} AS at
        ){left}
        SELECT count(*) FROM gone
    """)


def expire_sign_ins(budget_s: float = BUDGET_S) -> Purge:
    """Remove login sessions and sign-in counters that have ended."""
    return _run(_bites_of_ended(), budget_s)


def _bites_of_ended() -> Iterator[int]:
    for rule in SIGN_INS:
        while (gone := _bite_of_ended(rule)) > 0:
            yield gone


def _bite_of_ended(rule: Ending) -> int:
    """Remove one batch; rows that somebody is using right now are left for the next run."""
    with transaction():
        ended = text(f"""
            WITH due AS MATERIALIZED (
                SELECT {rule.key} FROM {rule.table} WHERE expires_at <= :now
                ORDER BY expires_at LIMIT :batch_size FOR UPDATE SKIP LOCKED
            ), gone AS (
                DELETE FROM {rule.table} WHERE {rule.key} IN (SELECT {rule.key} FROM due) RETURNING 1
            )
            SELECT count(*) FROM gone
        """)
        removed: int = session().execute(ended, {"now": clock.now(), "batch_size": BATCH_SIZE}).scalar_one()
        return removed
