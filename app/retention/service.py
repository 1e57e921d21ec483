"""Purging what is past its retention, in bites that nobody notices."""

import logging
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import TextClause, select, text
from sqlalchemy.orm import Mapped

from app.core import clock
from app.core.database import session, transaction
from app.evidence.rules import kept_since
from app.products.models import Environment
from app.retention.rules import BITE, BUDGET_S, EVIDENCE, FEEDBACK, Rule

logger = logging.getLogger(__name__)

_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtext('retention'), hashtext(:name))")


@dataclass(frozen=True, slots=True)
class Purge:
    """What a run removed, and whether it came to the end."""

    removed: int
    is_complete: bool


def expire_feedback(budget_s: float = BUDGET_S) -> Purge:
    """Remove interactions, reviews, reports and sessions past the retention of their environment."""
    return _expire(FEEDBACK, Environment.retention_days, lambda days: clock.now() - timedelta(days=days), budget_s)


def expire_evidence(budget_s: float = BUDGET_S) -> Purge:
    """Remove evidence of days that its environment does not keep any more."""
    return _expire(EVIDENCE, Environment.evidence_retention_days, lambda days: kept_since(clock.now(), days), budget_s)


def _expire(rules: Iterable[Rule], retention: Mapped[int], cut: Callable[[int], datetime], budget_s: float) -> Purge:
    deadline, removed = time.monotonic() + budget_s, 0
    with transaction():
        environments = session().execute(select(Environment.id, retention)).all()
    for environment_id, days in environments:
        for rule in rules:
            while (gone := _bite(rule, environment_id, cut(days))) > 0:
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
    follow_up = f", followed AS ({rule.follow_up})" if rule.follow_up else ""
    return text(f"""
        WITH gone AS (
            DELETE FROM {rule.table} WHERE environment_id = :environment_id AND ({key}) IN (
                SELECT {key} FROM {rule.table}
                WHERE environment_id = :environment_id AND {rule.clock} < :before ORDER BY {rule.clock} LIMIT :bite)
            RETURNING *
        ){follow_up}
        SELECT count(*) FROM gone
    """)
