"""Triage of reviews and reports: states, assignees, comments, audit entries, and how long they stay."""

import threading
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.accounts.models import AuditEntry
from app.accounts.users import create_user
from app.core.database import session, transaction
from app.core.errors import Unprocessable
from app.retention.service import expire_feedback
from app.triage import service
from app.triage.queries import list_comments
from app.triage.rules import MAX_COMMENT_LENGTH, MAX_COMMENTS
from app.triage.service import TooManyComments
from tests.factories import create_company
from tests.reading.fixtures import Reader
from tests.triage.actions import get_feedback, owner_login, triage


def row_counts() -> tuple[int, int]:
    with transaction():
        triages, comments = (
            session().execute(text(f"SELECT count(*) FROM {table}")).scalar_one()
            for table in ("triages", "triage_comments")
        )
    return triages, comments


def audit_entries(reader: Reader, action: str) -> list[AuditEntry]:
    statement = select(AuditEntry).where(
        AuditEntry.workspace_id == reader.company.workspace_id, AuditEntry.action == action
    )
    return list(session().scalars(statement.order_by(AuditEntry.id)))


def test_feedback_that_nobody_has_triaged_is_new(reader: Reader) -> None:
    interaction_id = reader.store_review()
    with transaction():
        item = get_feedback(reader.company, interaction_id)
    assert (item.triage, item.assignee_id) == ("new", None)


def test_a_change_is_in_the_audit_log_with_what_was_before(reader: Reader) -> None:
    interaction_id = reader.store_review()
    triage(reader.company, interaction_id, "investigating")
    with transaction():
        owner_id = owner_login(reader.company).user_id
    triage(reader.company, interaction_id, "resolved", assignee_id=owner_id)
    with transaction():
        first, second = audit_entries(reader, "feedback.triaged")
        assert first.details["previous"] == {"state": "new", "assignee": None}
        assert second.subject == str(interaction_id)
        assert second.details == {
            "kind": "review",
            "state": "resolved",
            "assignee": str(owner_id),
            "previous": {"state": "investigating", "assignee": None},
        }


def test_what_changes_nothing_is_not_in_the_audit_log(reader: Reader) -> None:
    interaction_id = reader.store_review()
    triage(reader.company, interaction_id, "resolved")
    triage(reader.company, interaction_id, "resolved")
    with transaction():
        assert len(audit_entries(reader, "feedback.triaged")) == 1


def test_a_review_and_a_report_of_one_interaction_are_triaged_apart(reader: Reader) -> None:
    interaction_id = reader.store_review()
    reader.store_report(interaction_id=interaction_id)
    triage(reader.company, interaction_id, "resolved", kind="report")
    with transaction():
        states = [get_feedback(reader.company, interaction_id, kind).triage for kind in ("review", "report")]
    assert states == ["new", "resolved"]


def test_only_a_member_can_be_assigned(reader: Reader) -> None:
    interaction_id = reader.store_review()
    with transaction():
        stranger = owner_login(create_company())
    with pytest.raises(Unprocessable, match="not a member"):
        triage(reader.company, interaction_id, "new", assignee_id=stranger.user_id)


def test_a_colleague_can_be_assigned(reader: Reader) -> None:
    interaction_id = reader.store_review()
    with transaction():
        colleague = create_user(reader.company.workspace_id, "colleague@example.com", "member")
    triage(reader.company, interaction_id, "new", assignee_id=colleague.id)
    with transaction():
        assert get_feedback(reader.company, interaction_id).assignee_id == colleague.id


@pytest.mark.parametrize("comment", [" \n ", "\x00", "a\x1b[0m", "a" * (MAX_COMMENT_LENGTH + 1)])
def test_a_comment_without_text_or_with_control_characters_is_refused(reader: Reader, comment: str) -> None:
    interaction_id = reader.store_review()
    with pytest.raises(Unprocessable):
        triage(reader.company, interaction_id, "new", comment=comment)


def test_a_comment_keeps_its_lines_and_stays_out_of_the_audit_log(reader: Reader) -> None:
    interaction_id = reader.store_review()
    triage(reader.company, interaction_id, "new", comment="One.\r\nTwo.")
    with transaction():
        item = get_feedback(reader.company, interaction_id)
        assert [comment.text for comment in list_comments(reader.company.environment_id, item.id)] == ["One.\nTwo."]
        (entry,) = audit_entries(reader, "feedback.commented")
        assert entry.details == {"kind": "review"}


def test_comments_of_one_review_are_bounded(reader: Reader) -> None:
    interaction_id = reader.store_review()
    with transaction():
        item, login = get_feedback(reader.company, interaction_id), owner_login(reader.company)
        for number in range(MAX_COMMENTS):
            service.add_comment(reader.company.environment_id, item, f"Comment {number}.", login)
        with pytest.raises(TooManyComments):
            service.add_comment(reader.company.environment_id, item, "One more.", login)


def test_simultaneous_comments_count_each_other(app: Flask, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_COMMENTS", 1)
    interaction_id = reader.store_review()
    errors = []

    def comment_too() -> None:
        with app.app_context():
            try:
                triage(reader.company, interaction_id, "new", comment="Two.")
            except TooManyComments as error:
                errors.append(error)

    thread = threading.Thread(target=comment_too)
    with transaction():
        item, login = get_feedback(reader.company, interaction_id), owner_login(reader.company)
        service.add_comment(reader.company.environment_id, item, "One.", login)
        thread.start()
        thread.join(0.3)
    thread.join(timeout=10)
    assert len(errors) == 1


def test_triage_leaves_with_its_feedback_however_late_it_was_changed(reader: Reader) -> None:
    old, new = reader.store_review(timedelta(days=91)), reader.store_review(timedelta(days=89))
    for interaction_id in (old, new):
        triage(reader.company, interaction_id, "resolved", comment="Mended.")
    assert row_counts() == (2, 2)
    expire_feedback()
    assert row_counts() == (1, 1)
    with transaction():
        assert get_feedback(reader.company, new).triage == "resolved"
