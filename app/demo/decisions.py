"""Retrievals of context, what the company decided with them, and what came of it."""

import uuid
from datetime import datetime, timedelta
from typing import Any

from app.context.bulk import insert_retrievals
from app.customers.rules import ContextPurpose
from app.demo.content import context
from app.demo.period import Ids, Period
from app.demo.traffic import Visit
from app.demo.workspace import SampleEnvironment
from app.personalization.bulk import insert_decisions

DECIDED_SHARE = 0.93
MATCHED_SHARES = {True: 0.8, False: 0.35}
"""How often the first variant is taken, with and without context."""
OUTCOME_SHARE = 0.84
GOOD_SHARE, GAIN_OF_CONTEXT, GAIN_OF_VARIANT = 0.31, 0.17, 0.04
GOOD_OUTCOMES, OTHER_OUTCOMES = ("conversion", "completion", "engagement"), ("dismissal", "abandonment")
GOOD_WEIGHTS, OTHER_WEIGHTS = (6, 3, 2), (3, 5)


class DecisionWriter:
    """Collects the retrievals, decisions and outcomes of one environment, and inserts them."""

    def __init__(self, period: Period, ids: Ids, environment: SampleEnvironment) -> None:
        self._period, self._ids, self._environment = period, ids, environment
        self._random = period.random(f"decisions {environment.product.slug}")
        self._retrievals: list[dict[str, Any]] = []
        self._decisions: list[dict[str, Any]] = []
        self._outcomes: list[dict[str, Any]] = []

    def decide(self, visit: Visit, customer_id: uuid.UUID | None, signal_ids: list[uuid.UUID]) -> None:
        """Retrieve the context of a visit's customer, and mostly decide with it."""
        retrieval = {
            "product_id": self._environment.product_id,
            "id": self._ids.make("retrieval", visit.id),
            "environment_id": self._environment.id,
            "customer_id": customer_id,
            "purpose": ContextPurpose.PRODUCT_PERSONALIZATION,
            "signal_ids": signal_ids,
            "created_at": visit.received_at,
        }
        self._retrievals.append(retrieval)
        is_decided = self._random.random() < DECIDED_SHARE
        decided_at = visit.received_at + timedelta(milliseconds=self._random.uniform(40, 400))
        outcome_after = timedelta(minutes=self._random.uniform(1, 55))
        is_matched = self._random.random() < MATCHED_SHARES[bool(signal_ids)]
        if not is_decided or not self._period.is_past(decided_at):
            return
        variants = context().variants[self._environment.product.slug]
        decision = {
            "product_id": self._environment.product_id,
            "external_id": f"rank-{len(self._retrievals):05}",
            "id": self._ids.make("decision", visit.id),
            "retrieval_id": retrieval["id"],
            "customer_id": customer_id,
            "purpose": retrieval["purpose"],
            "signal_ids": signal_ids,
            "variant": variants[0] if is_matched else variants[1],
            "created_at": decided_at,
        }
        self._decisions.append(decision)
        self._finish(decision, decided_at + outcome_after, is_matched=is_matched)

    def _finish(self, decision: dict[str, Any], occurred_at: datetime, *, is_matched: bool) -> None:
        """Add the outcome of a decision, if it is known by the end of the period."""
        random, share = self._random, GOOD_SHARE
        share += GAIN_OF_CONTEXT * bool(decision["signal_ids"]) + GAIN_OF_VARIANT * is_matched
        is_good, is_known = random.random() < share, random.random() < OUTCOME_SHARE
        good, other = random.choices(GOOD_OUTCOMES, GOOD_WEIGHTS)[0], random.choices(OTHER_OUTCOMES, OTHER_WEIGHTS)[0]
        created_at = occurred_at + timedelta(seconds=4)
        if is_known and self._period.is_past(created_at):
            self._outcomes.append(
                {
                    "product_id": decision["product_id"],
                    "external_id": f"{decision['external_id']}-result",
                    "id": self._ids.make("outcome", decision["id"]),
                    "decision_id": decision["id"],
                    "outcome": good if is_good else other,
                    "occurred_at": occurred_at,
                    "created_at": created_at,
                }
            )

    def write(self) -> None:
        """Insert retrievals, decisions and outcomes."""
        insert_retrievals(self._retrievals)
        insert_decisions(self._decisions, self._outcomes)
