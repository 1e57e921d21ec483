"""Triage of failures and reports, as `content/triage.toml` says, by members of the workspace."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from app.accounts.bulk import insert_audit_entries
from app.accounts.users import list_members
from app.demo import content
from app.demo.content import TriageCase
from app.demo.feedback import WrittenReport, WrittenReview
from app.demo.period import Ids, Period
from app.demo.workspace import SampleEnvironment
from app.triage.bulk import insert_triages
from app.triage.rules import NEW, REPORT, REVIEW

MINUTES_EACH = (0.5, 3)
"""How long somebody looks at one of them."""
COMMENT_DELAY = timedelta(seconds=20)
"""How long before its state a comment is written."""


class _Feedback(NamedTuple):
    """A review or report, as triage knows it."""

    kind: str
    row: WrittenReview | WrittenReport


class TriageWriter:
    """Collects the triage of every environment, and inserts it with its audit entries in the order of their times."""

    def __init__(self, period: Period, ids: Ids) -> None:
        self._period, self._ids = period, ids
        self._member_ids = [member.user_id for member in list_members(ids.workspace_id)]
        self._triages: list[dict[str, Any]] = []
        self._comments: list[dict[str, Any]] = []
        self._entries: list[dict[str, Any]] = []

    def add(
        self, environment: SampleEnvironment, reviews: Sequence[WrittenReview], reports: Sequence[WrittenReport]
    ) -> None:
        """Triage what an environment's cases are about; where the workspace has no member, nobody does."""
        if environment.content.name != "production" or not self._member_ids:
            return
        failures = [_Feedback(REVIEW, review) for review in reviews if review.outcome == "failure"]
        feedback = sorted(
            [*failures, *(_Feedback(REPORT, report) for report in reports)], key=lambda item: item.row.created_at
        )
        for case in content.triage().cases:
            if case.product == environment.product.slug:
                self._work_through(environment.id, case, feedback)

    def write(self) -> None:
        """Insert states, comments and audit entries."""
        insert_triages(self._triages, sorted(self._comments, key=lambda comment: comment["created_at"]))
        if self._entries:
            insert_audit_entries(sorted(self._entries, key=lambda entry: entry["at"]))

    def _work_through(self, environment_id: uuid.UUID, case: TriageCase, feedback: Sequence[_Feedback]) -> None:
        random = self._period.random(f"triage {case.product} {case.operation} {case.moment}")
        begin, member_id, comments = (
            self._period.at(case.day, case.hour),
            random.choice(self._member_ids),
            iter(case.comments),
        )
        moment = begin
        for item in feedback:
            name = (item.row.visit.operation.name, item.row.visit.moment)
            if name == (case.operation, case.moment) and item.row.created_at < begin and random.random() < case.share:
                moment += timedelta(minutes=random.uniform(*MINUTES_EACH))
                key = {"environment_id": environment_id, "feedback_id": item.row.id, "feedback_at": item.row.created_at}
                self._comment(key, item, member_id, moment - COMMENT_DELAY, next(comments, None))
                self._set_state(key, item, member_id, moment, case.state)

    def _set_state(
        self, key: dict[str, Any], item: _Feedback, member_id: uuid.UUID, moment: datetime, state: str
    ) -> None:
        values = {"kind": item.kind, "interaction_id": item.row.visit.id, "state": state}
        self._triages.append({**key, **values, "assignee_id": member_id, "changed_at": moment})
        details = {"state": state, "assignee": str(member_id), "previous": {"state": NEW, "assignee": None}}
        self._record(item, member_id, moment, "feedback.triaged", **details)

    def _comment(
        self, key: dict[str, Any], item: _Feedback, member_id: uuid.UUID, moment: datetime, text: str | None
    ) -> None:
        if text:
            self._comments.append({**key, "author_id": member_id, "text": text, "created_at": moment})
            self._record(item, member_id, moment, "feedback.commented")

    def _record(self, item: _Feedback, member_id: uuid.UUID, moment: datetime, action: str, **details: Any) -> None:
        self._entries.append(
            {
                "workspace_id": self._ids.workspace_id,
                "at": moment,
                "actor": f"user {member_id}",
                "action": action,
                "subject": str(item.row.visit.id),
                "details": {"kind": item.kind, **details},
            }
        )
