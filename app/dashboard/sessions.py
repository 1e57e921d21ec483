"""The pages of sessions: the list, and one of them with its interactions."""

import uuid
from dataclasses import dataclass
from functools import partial

from flask import request

from app.core.database.pages import Criteria, Order
from app.core.errors import NotFound
from app.dashboard.figures import time_span
from app.dashboard.lists import FilterForm, ItemList, choice_filter, list_by_position, list_page, text_filter
from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope
from app.interactions.rules import MAX_REFERENCE_LENGTH, SESSION_SOURCES
from app.interactions.schemas import DetailedInteractionSchema, SessionItemSchema
from app.interactions.session_queries import (
    SessionCounts,
    SessionItem,
    count_interactions_of,
    count_sessions,
    find_session,
    list_session_interactions,
)
from app.interactions.session_queries import list_sessions as read_sessions

sessions = PageBlueprint("sessions", has_scope=True)


class NoSuchSession(NotFound):
    """The environment has no such session."""

    sentence = "There is no such session in this environment."


class SessionFilters(FilterForm):
    """Which sessions are listed."""

    source = choice_filter("Source", SESSION_SOURCES)
    ref = text_filter("Session", MAX_REFERENCE_LENGTH)
    customer_ref = text_filter("Customer reference", MAX_REFERENCE_LENGTH)


class SessionKey(FilterForm):
    """Which session is shown."""

    source = text_filter("Source", MAX_REFERENCE_LENGTH)
    ref = text_filter("Session", MAX_REFERENCE_LENGTH)
    customer_ref = text_filter("Customer reference", MAX_REFERENCE_LENGTH)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as its page lists it."""

    item: SessionItem
    counts: SessionCounts

    @property
    def duration(self) -> str:
        """The time between its first and its last interaction."""
        return time_span(self.item.last_seen_at - self.item.first_seen_at)


@sessions.page("", "sessions/page.html")
def list_sessions(scope: Scope) -> Page:
    """List the sessions of the environment, the one that was seen last first."""
    filters = SessionFilters(request.args)
    page = list_page(_list(scope, filters))
    counts = count_interactions_of(scope.environment.id, page.rows)
    return Page({"filters_form": filters, "list": page, "rows": list(map(SessionRow, page.rows, counts))})


@sessions.export()
def export_sessions(scope: Scope) -> ItemList:
    """Export the list."""
    return _list(scope, SessionFilters(request.args))


@sessions.page("/one", "sessions/session.html")
def show_session(scope: Scope) -> Page:
    """Show a session with its interactions, oldest first."""
    session_item = _get_session(scope)
    return Page(
        {"session_item": session_item, "list": list_page(_interactions(scope, session_item), export="export_one")}
    )


@sessions.export("/one/export", "export_one")
def export_session(scope: Scope) -> ItemList:
    """Export the interactions of a session."""
    return _interactions(scope, _get_session(scope))


def _list(scope: Scope, form: SessionFilters) -> ItemList:
    criteria = Criteria(scope.environment.id, since=scope.since, filters=form.values())
    return list_by_position(
        "sessions",
        SessionItemSchema,
        lambda limit, position: read_sessions(criteria, limit, position),
        (scope.environment.id, *sorted(criteria.filters.items())),
        lambda: count_sessions(criteria),
    )


def _get_session(scope: Scope) -> SessionItem:
    form = SessionKey(request.args)
    if not form.validate():
        raise NoSuchSession
    key = form.values()
    session_item = find_session(
        scope.environment.id,
        key.get("source", ""),
        key.get("ref", ""),
        key.get("customer_ref", ""),
        since=scope.kept_since,
    )
    if session_item is None:
        raise NoSuchSession
    return session_item


def _interactions(scope: Scope, session_item: SessionItem) -> ItemList:
    environment_id: uuid.UUID = scope.environment.id
    list_interactions = partial(list_session_interactions, environment_id, session_item, order=Order.OLDEST)
    return list_by_position(
        "session",
        DetailedInteractionSchema,
        list_interactions,
        (environment_id, session_item.source, session_item.ref, session_item.customer_ref),
    )
