"""Triage by the owner of a company, as the page does it."""

import uuid
from datetime import UTC, datetime

from app.accounts.sessions import Login
from app.accounts.users import list_members
from app.core.database import transaction
from app.triage import service
from app.triage.queries import FeedbackItem, find_feedback
from tests.factories import Company

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def owner_login(company: Company) -> Login:
    """Return a login of the owner, within a transaction."""
    (owner, *_) = list_members(company.workspace_id)
    return Login(uuid.uuid4(), owner.user_id, owner.email, owner.role, company.workspace_id, "Example company")


def get_feedback(company: Company, interaction_id: uuid.UUID | str, kind: str = "review") -> FeedbackItem:
    """Return a review or report, within a transaction."""
    item = find_feedback(company.environment_id, kind, uuid.UUID(str(interaction_id)), LONG_AGO)
    assert item is not None
    return item


def triage(
    company: Company,
    interaction_id: uuid.UUID | str,
    state: str,
    *,
    kind: str = "review",
    assignee_id: uuid.UUID | None = None,
    comment: str = "",
) -> None:
    """Set the state of a review or report, and comment on it."""
    with transaction():
        item, login = get_feedback(company, interaction_id, kind), owner_login(company)
        if comment:
            service.add_comment(company.environment_id, item, comment, login)
        service.set_triage(company.environment_id, item, service.Change(state, assignee_id), login)
