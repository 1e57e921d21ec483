"""Read reviews and reports as one list, with their triage."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from app.core.database import session
from app.core.database.pages import Count, Criteria, Page, PagedTable, Position
from app.core.database.words import separate
from app.interactions.sql import INTERACTION_COLUMNS, JOIN_INTERACTION
from app.outcomes import sql as outcomes
from app.reports import sql as reports
from app.triage.rules import MAX_COMMENTS, MAX_NEW_SCAN, NEW, REPORT

FIRST_SCAN = 500
"""The newest rows that tell how words are searched: if a tenth of them has the words, so do enough to read by time."""

COMMON_SHARE = 10
"""One in how many rows has words that are common."""

MAX_MATCHES = 20_000
"""Rows with words that are found by their index and sorted for one page, which takes some fifty milliseconds; where
there are more, a page reads by time."""


class FeedbackItem(NamedTuple):
    """A review or report, what it is about, and its triage; a report's note is its summary."""

    id: uuid.UUID
    interaction_id: uuid.UUID
    kind: str
    outcome: str | None
    impact: str | None
    note: str
    findings: list[dict[str, Any]] | None
    operation: str
    surface: str
    triage: str
    assignee_id: uuid.UUID | None
    created_at: datetime


class Comment(NamedTuple):
    """A comment on a review or report."""

    author_id: uuid.UUID
    text: str
    created_at: datetime


class NewCount(NamedTuple):
    """How many failures or reports nobody has triaged; where not all are looked at, there may be more."""

    kind: str
    total: int
    is_complete: bool


_FEEDBACK = f"({outcomes.FEEDBACK} UNION ALL {reports.FEEDBACK})"

_JOIN_TRIAGE = """
    LEFT JOIN LATERAL (
        SELECT state, assignee_id FROM triages WHERE environment_id = f.environment_id AND feedback_id = f.id LIMIT 1
    ) t ON true
"""
_STATE = f"coalesce(t.state, '{NEW}')"

_COLUMNS = {
    name: {**INTERACTION_COLUMNS, "triage": _STATE, "assignee_id": "t.assignee_id"}.get(name, f"f.{name}")
    for name in FeedbackItem._fields
}

# The tenant is one of the words of a row. A text without a word is in no row.
_WORDS_QUERY = f"plainto_tsquery('simple', {separate(':q')})"
_QUERY = f"({_WORDS_QUERY} && CAST('''' || CAST(:tenant_id AS text) || '''' AS tsquery))"


def _has_words(row: str) -> str:
    return f"numnode({_WORDS_QUERY}) > 0 AND {row}.words @@ {_QUERY}"


def _match(row: str) -> str:
    """Return the condition of the filters for words and findings on a row of feedback."""
    is_found = f"(CAST(:q AS text) IS NULL OR ({_has_words(row)}))"
    return f"{is_found} AND (CAST(:finding AS jsonb) IS NULL OR {row}.findings @> CAST(:finding AS jsonb))"


_IN_PERIOD = "f.environment_id = :tenant_id AND f.created_at BETWEEN :first_at AND :last_at"
# OFFSET 0 makes it a query of its own: all rows with the words by their index, and not rows by time until enough match.
_ROWS_WITH_WORDS = f"""(
    SELECT environment_id, interaction_id, kind, id, outcome, impact, note, findings, created_at FROM {_FEEDBACK} f
    WHERE {_IN_PERIOD} AND {_has_words("f")} OFFSET 0
)"""
_COUNT_FIRST = text(f"""
    SELECT count(*), count(*) FILTER (WHERE {_has_words("f")})
    FROM (SELECT * FROM {_FEEDBACK} f WHERE {_IN_PERIOD} ORDER BY f.created_at DESC LIMIT :limit) f
""")
_COUNT_MATCHES = text(f"""
    SELECT count(*) FROM (SELECT 1 FROM {_FEEDBACK} f WHERE {_IN_PERIOD} AND {_has_words("f")} LIMIT :limit) f
""")
_HAS_FINDING = "(CAST(:finding AS jsonb) IS NULL OR f.findings @> CAST(:finding AS jsonb))"

_JOIN_FEEDBACK = f"""
    LEFT JOIN LATERAL (
        SELECT * FROM {_FEEDBACK} w
        WHERE w.environment_id = f.environment_id AND w.interaction_id = f.interaction_id AND w.kind = f.kind LIMIT 1
    ) feedback ON true
"""
_TRIAGE_COLUMNS = {
    "id": "f.feedback_id",
    "interaction_id": "f.interaction_id",
    "kind": "f.kind",
    "created_at": "f.feedback_at",
    **INTERACTION_COLUMNS,
    "triage": "f.state",
    "assignee_id": "f.assignee_id",
}


def _table(table: str, columns: Mapping[str, str], **sql: str) -> PagedTable[FeedbackItem]:
    columns = {name: columns[name] for name in FeedbackItem._fields}
    filters = {name: columns[name] for name in ("outcome", "impact", "operation", "surface", "triage")}
    condition = f"(CAST(:kind AS text) IS NULL OR f.kind = :kind) AND {sql.pop('condition', 'true')}"
    parameters = ("kind", "q", "finding")
    return PagedTable(table, FeedbackItem, columns, filters=filters, parameters=parameters, condition=condition, **sql)


_JOINS = JOIN_INTERACTION + _JOIN_TRIAGE
_BY_TIME = _table(_FEEDBACK, _COLUMNS, id="id", joins=_JOINS, match=_match("f"))
_BY_WORDS = _table(_ROWS_WITH_WORDS, _COLUMNS, id="id", joins=_JOINS, match=_HAS_FINDING)
_BY_STATE = _table(
    "triages",
    {**{name: f"feedback.{name}" for name in FeedbackItem._fields}, **_TRIAGE_COLUMNS},
    instant="feedback_at",
    id="feedback_id",
    joins=_JOIN_FEEDBACK + JOIN_INTERACTION,
    condition="f.state = :triage",
    match=f"feedback.id IS NOT NULL AND {_match('feedback')}",
)

_FIND = text(f"""
    SELECT {", ".join(f"{expression} AS {name}" for name, expression in _COLUMNS.items())}
    FROM {_FEEDBACK} f {JOIN_INTERACTION} {_JOIN_TRIAGE}
    WHERE f.environment_id = :environment_id AND f.interaction_id = :interaction_id AND f.kind = :kind
      AND f.created_at >= :since
""")

_FIND_ALL = text(f"""
    SELECT {", ".join(f"{expression} AS {name}" for name, expression in _COLUMNS.items())}
    FROM unnest(CAST(:kinds AS text[]), CAST(:interaction_ids AS uuid[])) AS key (kind, interaction_id)
    JOIN LATERAL (
        SELECT * FROM {_FEEDBACK} w
        WHERE w.environment_id = :environment_id AND w.interaction_id = key.interaction_id AND w.kind = key.kind
          AND w.created_at >= :since LIMIT 1
    ) f ON true {JOIN_INTERACTION} {_JOIN_TRIAGE}
    ORDER BY f.id
""")

_NEWEST = """
    SELECT environment_id, id, kind, outcome FROM ({feedback}) newest
    WHERE environment_id = :environment_id AND created_at >= :since ORDER BY created_at DESC LIMIT :limit
"""
# The triage of a review that is no failure is not looked up.
_COUNT_NEW = text(f"""
    SELECT kind, count(*) FILTER (
        WHERE (kind = '{REPORT}' OR outcome = 'failure') AND '{NEW}' = coalesce((
            SELECT state FROM triages WHERE environment_id = f.environment_id AND feedback_id = f.id LIMIT 1
        ), '{NEW}')
    ), count(*) < :limit
    FROM (
        ({_NEWEST.format(feedback=outcomes.FEEDBACK)}) UNION ALL ({_NEWEST.format(feedback=reports.FEEDBACK)})
    ) f
    GROUP BY kind ORDER BY kind DESC
""")

_LIST_COMMENTS = text("""
    SELECT author_id, text, created_at FROM triage_comments
    WHERE environment_id = :environment_id AND feedback_id = :feedback_id ORDER BY id LIMIT :limit
""")


def list_feedback(criteria: Criteria, limit: int, position: Position | None = None) -> Page[FeedbackItem]:
    """Return a page of the feedback of an environment.

    The filters are `kind`, `outcome`, `impact`, `operation`, `surface`, `triage`, `q`, words that all have to be in
    it, and `finding`, the JSON of a list that its findings have to contain.
    """
    if criteria.filters.get("triage") not in (None, NEW):
        return _BY_STATE.list(criteria, limit, position)
    if not criteria.filters.get("q"):
        return _BY_TIME.list(criteria, limit, position)
    table = _BY_WORDS if _are_rare(criteria, position) else _BY_TIME
    return table.list(criteria, limit, position)


def count_feedback(criteria: Criteria) -> Count | None:
    """Return how many rows match the filters; None where words are searched, which takes longer to count."""
    if criteria.filters.get("q"):
        return None
    table = _BY_TIME if criteria.filters.get("triage") in (None, NEW) else _BY_STATE
    return table.count(criteria)


def _are_rare(criteria: Criteria, position: Position | None) -> bool:
    """Tell whether the words of a search are in few of the rows behind a position, whatever other filters there are."""
    values = {
        "tenant_id": criteria.tenant_id,
        "q": criteria.filters["q"],
        "first_at": criteria.since,
        "last_at": min(criteria.until, position.at) if position else criteria.until,
    }
    rows, matches = session().execute(_COUNT_FIRST, {**values, "limit": FIRST_SCAN}).one()
    if rows < FIRST_SCAN or matches * COMMON_SHARE >= rows:
        return False
    number: int = session().execute(_COUNT_MATCHES, {**values, "limit": MAX_MATCHES + 1}).scalar_one()
    return number <= MAX_MATCHES


def count_new(environment_id: uuid.UUID, since: datetime) -> list[NewCount]:
    """Return how many of the newest reviews that say failure, and of the newest reports, are new."""
    values = {"environment_id": environment_id, "since": since, "limit": MAX_NEW_SCAN}
    return [NewCount(*row) for row in session().execute(_COUNT_NEW, values)]


def find_feedback(
    environment_id: uuid.UUID, kind: str, interaction_id: uuid.UUID, since: datetime
) -> FeedbackItem | None:
    """Return the review or the report of an interaction that is no older than `since`, or None."""
    values = {"environment_id": environment_id, "kind": kind, "interaction_id": interaction_id, "since": since}
    row = session().execute(_FIND, values).one_or_none()
    return FeedbackItem(*row) if row else None


def find_all_feedback(
    environment_id: uuid.UUID, keys: Sequence[tuple[str, uuid.UUID]], since: datetime
) -> list[FeedbackItem]:
    """Return those reviews and reports, named by kind and interaction, that are no older than `since`, by their ids."""
    kinds, interaction_ids = [kind for kind, _ in keys], [interaction_id for _, interaction_id in keys]
    values = {"environment_id": environment_id, "kinds": kinds, "interaction_ids": interaction_ids, "since": since}
    return [FeedbackItem(*row) for row in session().execute(_FIND_ALL, values)]


def list_comments(environment_id: uuid.UUID, feedback_id: uuid.UUID) -> list[Comment]:
    """Return the comments on a review or report, oldest first."""
    values = {"environment_id": environment_id, "feedback_id": feedback_id, "limit": MAX_COMMENTS}
    return [Comment(*row) for row in session().execute(_LIST_COMMENTS, values)]
