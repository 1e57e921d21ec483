"""Change the triage of reviews and reports."""

import uuid
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from app.accounts.service import record_audit_entry
from app.accounts.sessions import Login
from app.accounts.users import list_members
from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, Unprocessable
from app.core.wire.text import has_control_character
from app.triage.models import Triage, TriageComment
from app.triage.queries import FeedbackItem
from app.triage.rules import MAX_COMMENT_LENGTH, MAX_COMMENTS, NEW, STATES

Value = TypeVar("Value")


class TooManyComments(Conflict):
    """The review or report has as many comments as it can have."""

    code = "too_many_comments"
    sentence = f"There are {MAX_COMMENTS} comments already, which is as many as there can be."


class TriageChanged(Conflict):
    """Somebody else has changed the same value since it was read."""

    code = "triage_changed"
    sentence = "Somebody has changed the triage meanwhile. This is how it is now; please look, and save again."


@dataclass(frozen=True, slots=True)
class Change:
    """State and assignee of a review or report."""

    state: str
    assignee_id: uuid.UUID | None


def set_triage(
    environment_id: uuid.UUID, item: FeedbackItem, change: Change, login: Login, *, read: Change | None = None
) -> None:
    """Set state and assignee of a review or report, and write what has changed to the audit log.

    `read` holds the values that whoever changes them has seen: those that stay the same are left as they are now, and
    `TriageChanged` is raised for one that somebody else has set to something else.
    """
    if change.state not in STATES:
        raise Unprocessable(f"The state is one of {', '.join(STATES)}.")
    triage = _lock(environment_id, item)
    if read is not None:
        state = _merge(triage.state, read.state, change.state)
        change = Change(state, _merge(triage.assignee_id, read.assignee_id, change.assignee_id))
    if (triage.state, triage.assignee_id) == (change.state, change.assignee_id):
        return
    if change.assignee_id not in (None, triage.assignee_id):
        _require_member(login.workspace_id, change.assignee_id)
    previous = {"state": triage.state, "assignee": _text(triage.assignee_id)}
    details = {"kind": item.kind, "state": change.state, "assignee": _text(change.assignee_id), "previous": previous}
    record_audit_entry(login.workspace_id, login.actor, "feedback.triaged", str(item.interaction_id), **details)
    triage.state, triage.assignee_id, triage.changed_at = change.state, change.assignee_id, clock.now()
    session().flush()


def add_comment(environment_id: uuid.UUID, item: FeedbackItem, text: str, login: Login) -> None:
    """Add a comment on a review or report; line breaks stay, other control characters are refused."""
    text = text.replace("\r\n", "\n").strip()
    if not 1 <= len(text) <= MAX_COMMENT_LENGTH or has_control_character(text.replace("\n", " ").replace("\t", " ")):
        raise Unprocessable(f"A comment has 1 to {MAX_COMMENT_LENGTH} characters, and no control characters.")
    # Locked, so that simultaneous comments count each other.
    _lock(environment_id, item)
    comments = select(func.count()).where(
        TriageComment.environment_id == environment_id, TriageComment.feedback_id == item.id
    )
    if (session().scalar(comments) or 0) >= MAX_COMMENTS:
        raise TooManyComments
    session().add(
        TriageComment(
            environment_id=environment_id,
            feedback_id=item.id,
            feedback_at=item.created_at,
            author_id=login.user_id,
            text=text,
            created_at=clock.now(),
        )
    )
    # The text stays out of the audit log, which is kept for longer than feedback.
    subject = str(item.interaction_id)
    record_audit_entry(login.workspace_id, login.actor, "feedback.commented", subject, kind=item.kind)
    session().flush()


def _merge(current: Value, read: Value, new: Value) -> Value:
    if new == read:
        return current
    if current not in (read, new):
        raise TriageChanged
    return new


def _lock(environment_id: uuid.UUID, item: FeedbackItem) -> Triage:
    """Return the triage of a review or report, locked; it is stored first where there is none."""
    values = {"feedback_id": item.id, "kind": item.kind, "interaction_id": item.interaction_id, "state": NEW}
    row = {"environment_id": environment_id, "feedback_at": item.created_at, "changed_at": clock.now(), **values}
    session().execute(insert(Triage).values(row).on_conflict_do_nothing())
    return session().get_one(Triage, (environment_id, item.id), with_for_update=True, populate_existing=True)


def _require_member(workspace_id: uuid.UUID, user_id: uuid.UUID | None) -> None:
    if user_id not in {member.user_id for member in list_members(workspace_id)}:
        raise Unprocessable("The assignee is not a member of this workspace.")


def _text(user_id: uuid.UUID | None) -> str | None:
    return str(user_id) if user_id else None
