"""Consent decisions of an environment that asks each customer once, and the visits that may be reviewed after them."""

import base64
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from app.consent.bulk import insert_decisions
from app.consent.contract import question_version
from app.consent.rules import Basis
from app.customers.rules import APPROVED, DECLINED
from app.demo.period import Ids, Period
from app.demo.traffic import Visit
from app.demo.workspace import SampleEnvironment
from app.products.rules import Mode

ANSWERS = ((APPROVED, 0.74), (DECLINED, 0.14), (None, 0.12))
"""What customers say when they are asked; None says nothing."""
DECISION_DELAY = timedelta(seconds=24)


class PermissionWriter:
    """Inserts the decisions of one environment."""

    def __init__(self, period: Period, ids: Ids, environment: SampleEnvironment) -> None:
        self._period, self._ids, self._environment = period, ids, environment
        self._random = period.random(f"permissions {environment.product.slug} {environment.content.name}")
        self._customers: dict[int, tuple[str | None, datetime]] = {}
        self._subjects: list[dict[str, Any]] = []
        self._decisions: list[dict[str, Any]] = []

    def write(self, visits: Sequence[Visit]) -> list[Visit]:
        """Insert the decisions that were made in visits, and return those visits that may be reviewed."""
        if self._environment.content.mode == Mode.NEVER_ASK:
            return list(visits)
        approved_visits = list(self._approved(visits))
        insert_decisions(self._subjects, self._decisions)
        return approved_visits

    def _approved(self, visits: Sequence[Visit]) -> Iterator[Visit]:
        for visit in visits:
            answers = [answer for answer, _ in ANSWERS]
            (answer,) = self._random.choices(answers, [weight for _, weight in ANSWERS])
            decided_at = visit.received_at + DECISION_DELAY
            if visit.customer is not None and visit.customer in self._customers:
                answer, decided_at = self._customers[visit.customer]
            elif answer is not None and self._period.is_past(decided_at):
                self._decide(visit, answer, decided_at)
            if answer == APPROVED and self._period.is_past(decided_at):
                yield visit

    def _decide(self, visit: Visit, decision: str, decided_at: datetime) -> None:
        subject = None
        if visit.customer is not None:
            self._customers[visit.customer] = decision, decided_at
            subject = self._subject(visit.customer)
            row = {"subject": subject, "decision": decision, "revision": 1, "decided_at": decided_at}
            self._subjects.append({"environment_id": self._environment.id, **row})
        self._decisions.append(
            {
                "environment_id": self._environment.id,
                "interaction_id": visit.id,
                "subject": subject,
                "decision": decision,
                "revision": 1 if subject else None,
                "question": question_version(Basis.SUBJECT if subject else Basis.INTERACTION),
                "key_id": self._environment.key_id(self._ids, "product"),
                "decided_at": decided_at,
            }
        )

    def _subject(self, customer: int) -> str:
        digest = self._ids.digest("subject a", customer) + self._ids.digest("subject b", customer)
        return "afsub1_" + base64.urlsafe_b64encode(digest).decode().rstrip("=")
