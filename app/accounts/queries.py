"""Read the audit log."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.core.database.pages import SCAN_LIMIT, Count
from app.core.wire.fields import EARLIEST

LAST_ID = 2**63 - 1


class AuditItem(NamedTuple):
    """An entry of the audit log, with the e-mail address of its actor where that is a member of the workspace."""

    id: int
    at: datetime
    actor: str
    actor_email: str | None
    action: str
    subject: str
    details: dict[str, Any]


class AuditPage(NamedTuple):
    """Entries, newest first, and the id that the next page begins behind; None at the end."""

    entries: list[AuditItem]
    next_id: int | None


_IS_MATCH = """
    at >= :since AND starts_with(action, :action)
    AND (CAST(:actor AS text) IS NULL OR :actor IN (actor, u.email, substr(actor, 6)))
"""
_JOIN_ACTOR = """
    LEFT JOIN memberships member ON member.workspace_id = :workspace_id AND member.user_id
        = CASE WHEN actor ~ '^user [0-9a-f-]{36}$' THEN CAST(substr(actor, 6) AS uuid) END
    LEFT JOIN users u ON u.id = member.user_id
"""

# The last entry that was looked at comes along even where a filter drops it: the next page begins behind it.
_LIST_ENTRIES = text(f"""
    SELECT number, is_match, id, at, actor, actor_email, action, subject, details FROM (
        SELECT row_number() OVER (ORDER BY entry.id DESC) AS number, entry.*, u.email AS actor_email,
               {_IS_MATCH} AS is_match
        FROM (
            SELECT * FROM audit_entries WHERE workspace_id = :workspace_id AND id < :before
            ORDER BY id DESC LIMIT :scan_limit
        ) entry {_JOIN_ACTOR}
    ) scanned WHERE is_match OR number = :scan_limit ORDER BY id DESC LIMIT :limit
""")


_COUNT_ENTRIES = text(f"""
    -- Entries have the order of their ids: whatever is older than one that is too old is too old as well.
    SELECT count(*) FILTER (WHERE {_IS_MATCH}), count(*) < :scan_limit OR min(at) < :since FROM (
        SELECT * FROM audit_entries WHERE workspace_id = :workspace_id ORDER BY id DESC LIMIT :scan_limit
    ) entry {_JOIN_ACTOR}
""")


def count_audit_entries(workspace_id: uuid.UUID, filters: Mapping[str, str], since: datetime = EARLIEST) -> Count:
    """Return how many entries of a workspace match, of those that a page looks at."""
    scan_limit = SCAN_LIMIT if filters else SCAN_LIMIT + 1
    values = {
        "actor": None,
        "action": "",
        **filters,
        "since": since,
        "workspace_id": workspace_id,
        "scan_limit": scan_limit,
    }
    number, is_complete = session().execute(_COUNT_ENTRIES, values).one()
    return Count(number, is_complete, SCAN_LIMIT)


def list_audit_entries(
    workspace_id: uuid.UUID,
    limit: int,
    before: int = LAST_ID,
    filters: Mapping[str, str] | None = None,
    since: datetime = EARLIEST,
) -> AuditPage:
    """Return entries of a workspace that are older than `before`, an id, and not older than `since`.

    The filter `actor` is an e-mail address, the id of a user, or `command line`; `action` is how an action
    begins. With a filter a page may have fewer entries than were asked for, and still a next one.
    """
    scan_limit = max(SCAN_LIMIT, limit + 1)
    values = {
        "actor": None,
        "action": "",
        **(filters or {}),
        "workspace_id": workspace_id,
        "before": before,
        "since": since,
        "scan_limit": scan_limit,
        "limit": limit + 1,
    }
    rows = session().execute(_LIST_ENTRIES, values).all()
    has_more = len(rows) > limit or (bool(rows) and rows[-1].number == scan_limit)
    rows = rows[:limit]
    has_more = has_more and rows[-1].at >= since
    return AuditPage([AuditItem(*row[2:]) for row in rows if row.is_match], rows[-1].id if has_more else None)
