"""The audit page: who has changed what, from what to what, and when."""

import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from flask import request

from app.accounts import queries, users
from app.accounts.queries import LAST_ID, AuditItem
from app.accounts.rules import MAX_EMAIL_LENGTH
from app.accounts.schemas import AuditItemSchema
from app.accounts.sessions import Login
from app.core.wire.fields import EARLIEST
from app.dashboard.lists import Batch, FilterForm, ItemList, Place, list_page, text_filter
from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.queries import list_products
from app.dashboard.rules import Change, list_changes
from app.dashboard.scope import current_scope

MAX_ACTION_LENGTH = 100

audit = PageBlueprint("audit", has_login=True)


class AuditFilters(FilterForm):
    """Which entries are listed."""

    actor = text_filter("Who (e-mail address, or “command line”)", MAX_EMAIL_LENGTH)
    action = text_filter("What", MAX_ACTION_LENGTH, description="such as key.revoked, or key")


class AuditRow(NamedTuple):
    """An entry as the page shows it: with names in place of ids, and values before and after."""

    entry: AuditItem
    actor: str
    subject: str | None
    """The name of what was changed, where it is still there."""
    changes: list[Change]


@audit.page("", "audit/page.html")
def list_entries(login: Login) -> Page:
    """List the entries of the workspace, newest first."""
    filters = AuditFilters(request.args)
    page = list_page(_list(login, filters))
    return Page({"filters_form": filters, "list": page, "rows": _rows(login, page.rows)})


@audit.export()
def export_entries(login: Login) -> ItemList:
    """Export the list."""
    return _list(login, AuditFilters(request.args))


def _list(login: Login, filters: AuditFilters) -> ItemList:
    workspace_id, values, scope = login.workspace_id, filters.values(), current_scope()
    since = scope.first_at if scope else EARLIEST

    def read(limit: int, place: Place | None) -> Batch:
        before = _entry_id(place) if place else LAST_ID
        page = queries.list_audit_entries(workspace_id, limit, before, values, since)
        return Batch(page.entries, [str(page.next_id)] if page.next_id else None)

    cursor_scope = (workspace_id, *sorted(values.items()))
    return ItemList(
        "audit", AuditItemSchema, read, cursor_scope, lambda: queries.count_audit_entries(workspace_id, values, since)
    )


def _entry_id(place: Place) -> int:
    """Return the id of the entry behind which a page begins, or raise `ValueError` for a place that no page has."""
    entry_id = int(place[0])
    if [str(entry_id)] != place or not 0 < entry_id <= LAST_ID:
        raise ValueError(place)
    return entry_id


def _rows(login: Login, entries: Sequence[AuditItem]) -> list[AuditRow]:
    changes = [list_changes(entry.details) for entry in entries]
    values = {str(value) for row in changes for change in row for value in (change.before, change.after)}
    names = _names(login, values | {entry.subject for entry in entries})
    return [
        AuditRow(
            entry, entry.actor_email or entry.actor, names.get(entry.subject), [_name(change, names) for change in row]
        )
        for entry, row in zip(entries, changes, strict=True)
    ]


def _name(change: Change, names: dict[str, str]) -> Change:
    """Return a change with names in place of ids."""
    before, after = names.get(str(change.before), change.before), names.get(str(change.after), change.after)
    return Change(change.name, before, after)


def _names(login: Login, texts: set[str]) -> dict[str, str]:
    """Return the names of those texts that are ids of members, products or environments of the workspace."""
    user_ids = {id_ for text in texts if (id_ := _uuid(text))}
    names: dict[Any, str] = dict(users.find_emails(login.workspace_id, user_ids))
    for entry in list_products(login.workspace_id):
        names[entry.product.id] = entry.product.name
        for environment in entry.environments:
            names[environment.id] = f"{entry.product.name} · {environment.name}"
    return {str(id_): name for id_, name in names.items()}


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
