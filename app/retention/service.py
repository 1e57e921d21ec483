"""Purging what is past its retention, in bites that nobody notices."""

import logging
import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import TextClause, select, text

from app.core import clock
from app.core.database import session, transaction
from app.products.models import Environment
from app.retention.rules import BITE, BUDGET_S, FEEDBACK, SIGN_INS, Ending, Rule

logger = logging.getLogger(__name__)

_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtext('retention'), hashtext(:name))")


@dataclass(frozen=True, slots=True)
class Purge:
    """What a run removed, and whether it came to the end."""

    removed: int
    is_complete: bool


def expire_feedback(budget_s: float = BUDGET_S) -> Purge:
    """Remove interactions, reviews, reports and sessions past the retention of their environment."""
    deadline, removed = time.monotonic() + budget_s, 0
    with transaction():
        environments = session().execute(select(Environment.id, Environment.retention_days)).all()
    for environment_id, days in environments:
        for rule in FEEDBACK:
            while (gone := _bite(rule, environment_id, clock.now() - timedelta(days=days))) > 0:
                removed += gone
                if time.monotonic() > deadline:
                    logger.warning("the purge ran out of time", extra={"removed": removed})
                    return Purge(removed, is_complete=False)
    if removed:
        logger.info("purged", extra={"removed": removed})
    return Purge(removed, is_complete=True)


def _bite(rule: Rule, environment_id: uuid.UUID, before: datetime) -> int:
    """Remove one bite; 0 when there is nothing left, or when another run is at it."""
    with transaction():
        if not session().execute(_LOCK, {"name": rule.table}).scalar_one():
            return 0
        removed: int = (
            session()
            .execute(_delete(rule), {"environment_id": environment_id, "before": before, "bite": BITE})
            .scalar_one()
        )
        return removed


def _delete(rule: Rule) -> TextClause:
    key = ", ".join(rule.key)
    marks = (
        """, marked AS (INSERT INTO day_marks (environment_id, day_on)
           SELECT DISTINCT :environment_id, (at AT TIME ZONE 'UTC')::date FROM gone)"""
        if rule.marks_day
        else ""
    )
    return text(f"""
        WITH gone AS (
            DELETE FROM {rule.table} WHERE environment_id = :environment_id AND ({key}) IN (
                SELECT {key} FROM {rule.table}
                WHERE environment_id = :environment_id AND {rule.clock} < :before ORDER BY {rule.clock} LIMIT :bite)
            RETURNING {rule.clock} AS at
        ){marks}
        SELECT count(*) FROM gone
    """)


def expire_sign_ins(budget_s: float = BUDGET_S) -> Purge:
    """Remove login sessions and sign-in counters that have ended."""
    deadline, removed = time.monotonic() + budget_s, 0
    for rule in SIGN_INS:
        while (gone := _bite_of_ended(rule)) > 0:
            removed += gone
            if time.monotonic() > deadline:
                return Purge(removed, is_complete=False)
    return Purge(removed, is_complete=True)


def _bite_of_ended(rule: Ending) -> int:
    """Remove one bite; rows that somebody is using right now are left for the next run."""
    with transaction():
        ended = text(f"""
            WITH gone AS (
                DELETE FROM {rule.table} WHERE {rule.key} IN (
                    SELECT {rule.key} FROM {rule.table}
                    WHERE expires_at <= :now ORDER BY expires_at LIMIT :bite FOR UPDATE SKIP LOCKED)
                RETURNING 1
            )
            SELECT count(*) FROM gone
        """)
        removed: int = session().execute(ended, {"now": clock.now(), "bite": BITE}).scalar_one()
        return removed
