"""Read sessions: by pages, by their keys, and what belongs to each."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.core.database.pages import Count, Criteria, Order, Page, PagedTable, Position
from app.interactions.queries import ITEM_COLUMNS, InteractionItem


class SessionItem(NamedTuple):
    """A session: interactions of one customer, as far as one is known, that belong together."""

    source: str | None
    ref: str
    customer_ref: str | None
    first_seen_at: datetime
    last_seen_at: datetime


_SESSION_INTERACTIONS = PagedTable(
    "interactions",
    InteractionItem,
    ITEM_COLUMNS,
    filters={
        "ref": "f.session_ref",
        "source": "coalesce(f.session_source, '')",
        "customer_ref": "coalesce(f.customer_ref, '')",
    },
    instant="received_at",
    id="id",
)

# A session has no id, and two can be seen at the same instant: a digest of its key orders them.
_SESSIONS = PagedTable(
    "(SELECT *, md5(source || ' ' || ref || ' ' || customer_ref)::uuid AS id FROM sessions)",
    SessionItem,
    {
        "source": "nullif(f.source, '')",
        "ref": "f.ref",
        "customer_ref": "nullif(f.customer_ref, '')",
        "first_seen_at": "f.first_seen_at",
        "last_seen_at": "f.last_seen_at",
    },
    filters={"source": "f.source", "customer_ref": "f.customer_ref", "ref": "f.ref"},
    instant="last_seen_at",
    id="id",
)

_FIND_SESSION = text("""
    SELECT nullif(source, ''), ref, nullif(customer_ref, ''), first_seen_at, last_seen_at FROM sessions
    WHERE environment_id = :environment_id AND source = :source AND ref = :ref AND customer_ref = :customer_ref
      AND last_seen_at >= :since
""")


def list_sessions(criteria: Criteria, limit: int, position: Position | None = None) -> Page[SessionItem]:
    """Return a page of the sessions of an environment by the instant that they were last seen at."""
    return _SESSIONS.list(criteria, limit, position)


def count_sessions(criteria: Criteria) -> Count:
    """Return how many sessions match the filters, of those that a page looks at."""
    return _SESSIONS.count(criteria)


def find_session(
    environment_id: uuid.UUID, source: str, ref: str, customer_ref: str, since: datetime
) -> SessionItem | None:
    """Return a session that was last seen no earlier than `since`, or None; an absent member of its key is empty."""
    values = {"environment_id": environment_id, "source": source, "ref": ref, "customer_ref": customer_ref}
    row = session().execute(_FIND_SESSION, {**values, "since": since}).one_or_none()
    return SessionItem(*row) if row else None


def list_session_interactions(
    environment_id: uuid.UUID, item: SessionItem, limit: int, position: Position | None = None, *, order: Order
) -> Page[InteractionItem]:
    """Return a page of the interactions of a session, which lie between the instants that it was seen at."""
    key = {"ref": item.ref, "source": item.source or "", "customer_ref": item.customer_ref or ""}
    until = item.last_seen_at + timedelta(microseconds=1)
    criteria = Criteria(environment_id, order, item.first_seen_at, until, key)
    return _SESSION_INTERACTIONS.list(criteria, limit, position)


class SessionCounts(NamedTuple):
    """The interactions of a session and their outcomes; where not all are looked at, there may be more."""

    interactions: int
    success: int
    partial: int
    failure: int
    is_complete: bool

    @property
    def outcomes(self) -> dict[str, int]:
        """How many have each outcome."""
        return {"success": self.success, "partial": self.partial, "failure": self.failure}


COUNTED_INTERACTIONS = 20_000
"""How many interactions are looked at to count those of the sessions of a page; some twenty milliseconds."""

_COUNT_SESSIONS = text("""
    SELECT counted.* FROM unnest(
        CAST(:sources AS text[]), CAST(:refs AS text[]), CAST(:customer_refs AS text[]),
        CAST(:first_seen_at AS timestamptz[]), CAST(:last_seen_at AS timestamptz[])
    ) WITH ORDINALITY AS key (source, ref, customer_ref, first_seen_at, last_seen_at, number)
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE is_own), count(*) FILTER (WHERE is_own AND outcome = 'success'),
               count(*) FILTER (WHERE is_own AND outcome = 'partial'),
               count(*) FILTER (WHERE is_own AND outcome = 'failure'), count(*) < :scan_limit
        FROM (
            SELECT outcome, session_ref = key.ref AND coalesce(session_source, '') = key.source
                   AND coalesce(customer_ref, '') = key.customer_ref AS is_own
            FROM interactions
            WHERE environment_id = :environment_id AND received_at BETWEEN key.first_seen_at AND key.last_seen_at
            ORDER BY received_at DESC LIMIT :scan_limit
        ) newest
    ) counted ORDER BY key.number
""")


def count_interactions_of(environment_id: uuid.UUID, items: Sequence[SessionItem]) -> list[SessionCounts]:
    """Return the counts of each of some sessions.

    Together they look at `COUNTED_INTERACTIONS` interactions of the times that the sessions span, the newest of each.
    """
    values = {
        "environment_id": environment_id,
        "sources": [item.source or "" for item in items],
        "refs": [item.ref for item in items],
        "customer_refs": [item.customer_ref or "" for item in items],
        "first_seen_at": [item.first_seen_at for item in items],
        "last_seen_at": [item.last_seen_at for item in items],
        "scan_limit": COUNTED_INTERACTIONS // max(len(items), 1),
    }
    return [SessionCounts(*row) for row in session().execute(_COUNT_SESSIONS, values)]
