"""Change the roles of users, and remove users; a workspace always keeps an owner."""

import uuid
from collections.abc import Sequence

from sqlalchemy import delete, exists, select

from app.accounts.models import Membership, User, Workspace
from app.accounts.rules import OWNER
from app.accounts.service import COMMAND_LINE_ACTOR, canonical_email, record_audit_entry
from app.core.database import session
from app.core.errors import Conflict, NotFound, Unprocessable


class LastOwner(Conflict):
    """The change would leave a workspace without an owner."""

    code = "last_owner"
    sentence = "This user is the last owner of the workspace. Make another user its owner first."


def set_role(email: str, role: str, workspace_id: uuid.UUID | None = None, actor: str = COMMAND_LINE_ACTOR) -> None:
    """Change a user's role in a workspace, which may be left out where the user belongs to one only."""
    memberships = _lock_memberships(lock_user(email), workspace_id)
    if len(memberships) > 1:
        raise Unprocessable("This user belongs to several workspaces; name one with --workspace.")
    (membership,) = memberships
    if membership.role == role:
        return
    if membership.role == OWNER:
        _require_another_owner(membership)
    subject, previous_role = str(membership.user_id), membership.role
    record_audit_entry(membership.workspace_id, actor, "role.changed", subject, role=role, previous=previous_role)
    membership.role = role
    session().flush()


def remove_user(email: str, workspace_id: uuid.UUID | None = None, actor: str = COMMAND_LINE_ACTOR) -> bool:
    """Remove a user from one workspace or from all, and delete one who then belongs to none; tell whether that is so.

    The sessions in a workspace end with the membership.
    """
    user = lock_user(email)
    memberships = _lock_memberships(user, workspace_id)
    for membership in memberships:
        if membership.role == OWNER:
            _require_another_owner(membership)
        record_audit_entry(membership.workspace_id, actor, "user.removed", str(user.id), role=membership.role)
        session().delete(membership)
    session().flush()
    is_member = session().scalar(select(exists().where(Membership.user_id == user.id)))
    if not is_member:
        session().execute(delete(User).where(User.id == user.id))
    return not is_member


def lock_user(email: str) -> User:
    """Return the user with an e-mail address, locked, or raise `NotFound`."""
    user = session().scalar(select(User).where(User.email == canonical_email(email)).with_for_update())
    if user is None:
        raise NotFound("There is no user with this e-mail address.")
    return user


def _lock_memberships(user: User, workspace_id: uuid.UUID | None) -> Sequence[Membership]:
    """Return the user's memberships, or the one in a workspace.

    Their workspaces are locked before the roles are read: of two transactions that each take a workspace one of its
    last two owners, the second sees what the first has done.
    """
    workspace_ids = select(Membership.workspace_id).where(Membership.user_id == user.id)
    if workspace_id is not None:
        workspace_ids = workspace_ids.where(Membership.workspace_id == workspace_id)
    workspaces = select(Workspace.id).where(Workspace.id.in_(workspace_ids)).order_by(Workspace.id)
    ids = session().scalars(workspaces.with_for_update(key_share=True)).all()
    memberships = select(Membership).where(Membership.user_id == user.id, Membership.workspace_id.in_(ids))
    rows = session().scalars(memberships.order_by(Membership.workspace_id)).all()
    if not rows:
        raise NotFound("This user does not belong to this workspace.")
    return rows


def _require_another_owner(membership: Membership) -> None:
    others = exists().where(
        Membership.workspace_id == membership.workspace_id,
        Membership.role == OWNER,
        Membership.user_id != membership.user_id,
    )
    if not session().scalar(select(others)):
        raise LastOwner
