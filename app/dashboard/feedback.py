"""The pages of feedback: reviews and reports in one list, one of them with its triage, and the findings of reports."""

import uuid
from typing import Any

from flask import redirect, request
from werkzeug.wrappers import Response
from wtforms import HiddenField, SelectField, TextAreaField
from wtforms.validators import UUID, Length, Optional

from app.accounts.sessions import Login
from app.accounts.users import list_members
from app.core.database import savepoint
from app.core.errors import ApiError, NotFound, Unprocessable
from app.dashboard.customer_context import find_customer_context
from app.dashboard.export_schemas import FindingGroupSchema
from app.dashboard.feedback_filters import FeedbackFilters, feedback_list, filtered_url, find_next_new
from app.dashboard.forms import WriteForm
from app.dashboard.interaction_scope import redirect_to_environment
from app.dashboard.labels import choices_of
from app.dashboard.lists import AFTER, DONE, PAGE_SIZE, ItemList, export_urls, list_page, whole_list
from app.dashboard.neighbours import find_neighbours
from app.dashboard.operation_filter import list_operation_names
from app.dashboard.pages import Page, PageBlueprint, page_with_error
from app.dashboard.scope import Scope
from app.interactions.queries import INTERACTIONS
from app.reports.queries import MAX_SUMMARIZED_REPORTS, REPORT_PAGES, summarize_findings
from app.triage import service as triage
from app.triage.queries import FeedbackItem, find_all_feedback, find_feedback, list_comments
from app.triage.rules import KINDS, MAX_COMMENT_LENGTH, REPORT, STATES
from app.triage.service import TriageChanged

feedback = PageBlueprint("feedback", has_scope=True)

UNASSIGNED = ""

NOTICES = {
    "triaged": "The state is set.",
    "none-ticked": "No row was ticked, so nothing is changed.",
    "saved": "Saved.",
}


class NoSuchFeedback(NotFound):
    """The environment has no such review or report."""

    sentence = "There is no such review or report in this environment."


class TriageForm(WriteForm):
    """State, assignee and comment, and the state and assignee that the form was filled from."""

    state_before = HiddenField()
    assignee_before = HiddenField(validators=[Optional(), UUID()])
    state = SelectField("State", choices=choices_of(STATES))
    assignee = SelectField("Assignee")
    comment = TextAreaField("Comment", [Optional(), Length(max=MAX_COMMENT_LENGTH)])


class BulkTriageForm(WriteForm):
    """The state to set of the rows that are ticked, each of which is named by its kind and interaction."""

    state = SelectField("Ticked rows", id="bulk_state", choices=choices_of(STATES), default=STATES[1])


@feedback.page("", "feedback/page.html")
def list_feedback(scope: Scope) -> Page:
    """List the reviews and reports of the environment, newest first."""
    filters = FeedbackFilters(request.args)
    variables = {
        "filters_form": filters,
        "list": list_page(feedback_list(scope, filters)),
        "operation_names": list_operation_names(scope),
        "bulk_form": BulkTriageForm(),
        "bulk_url": filtered_url("feedback.triage_items", after=request.args.get(AFTER, "")),
    }
    return _page(variables)


@feedback.form("/triage")
def triage_items(scope: Scope) -> Response:
    """Set the state of all rows that are ticked, or of none, and show the list again."""
    keys = _ticked_keys()
    if keys:
        form = BulkTriageForm()
        if not form.validate():
            raise Unprocessable("There is no such state.")
        items = find_all_feedback(scope.environment.id, keys, scope.kept_since)
        if len(items) < len(keys):
            raise NoSuchFeedback
        for item in items:
            read = triage.Change(item.triage, item.assignee_id)
            change = triage.Change(form.state.data, item.assignee_id)
            triage.set_triage(scope.environment.id, item, change, scope.login, read=read)
    done = "triaged" if keys else "none-ticked"
    return redirect(filtered_url("feedback.list_feedback", done=done, after=request.args.get(AFTER, "")), 303)


@feedback.export()
def export_items(scope: Scope) -> ItemList:
    """Export the list."""
    return feedback_list(scope, FeedbackFilters(request.args))


@feedback.page("/findings", "feedback/findings.html")
def list_findings(scope: Scope) -> Page:
    """Show what reports have found, by kind and topic."""
    summary = summarize_findings(scope.environment.id, scope.since)
    return Page(
        {
            "summary": summary,
            "is_complete": summary.report_count < MAX_SUMMARIZED_REPORTS,
            "export_urls": export_urls("export_findings"),
        }
    )


@feedback.export("/findings/export", "export_findings")
def export_findings(scope: Scope) -> ItemList:
    """Export what reports have found."""
    return whole_list("findings", FindingGroupSchema, summarize_findings(scope.environment.id, scope.since).groups)


@feedback.page("/<kind>/<uuid:interaction_id>", "feedback/item.html")
def show_item(scope: Scope, kind: str, interaction_id: uuid.UUID) -> Page | Response:
    """Show the review or the report of an interaction."""
    if elsewhere := redirect_to_environment(scope, interaction_id):
        return elsewhere
    item = _get_item(scope, kind, interaction_id)
    form = _triage_form(scope.login, item)
    _fill(form, item)
    return _item_page(scope, item, form)


@feedback.form("/<kind>/<uuid:interaction_id>", "feedback/item.html")
def triage_item(scope: Scope, kind: str, interaction_id: uuid.UUID) -> Page | Response:
    """Set state and assignee, and add a comment."""
    item = _get_item(scope, kind, interaction_id)
    form = _triage_form(scope.login, item)
    try:
        with savepoint():
            _save(scope, item, form)
    except TriageChanged as error:
        item = _get_item(scope, kind, interaction_id)
        _fill(form, item)
        return _item_page(scope, item, form, error)
    except ApiError as error:
        return _item_page(scope, item, form, error)
    return redirect(filtered_url("feedback.show_item", done="saved", kind=kind, interaction_id=interaction_id), 303)


def _page(variables: dict[str, Any], error: ApiError | None = None) -> Page:
    notice = NOTICES.get(request.args.get(DONE, "")) if error is None else None
    return page_with_error({**variables, "filtered_url": filtered_url, "notice": notice}, error)


def _ticked_keys() -> list[tuple[str, uuid.UUID]]:
    """Return the kinds and interactions of the rows that are ticked, at most a page of them."""
    names = set(request.form.getlist("item"))
    if len(names) > PAGE_SIZE:
        raise Unprocessable(f"At most {PAGE_SIZE} rows are triaged at a time.")
    try:
        return sorted((kind, uuid.UUID(id_)) for kind, _, id_ in (name.partition(":") for name in names))
    except ValueError:
        raise NoSuchFeedback from None


def _get_item(scope: Scope, kind: str, interaction_id: uuid.UUID) -> FeedbackItem:
    item = find_feedback(scope.environment.id, kind, interaction_id, scope.kept_since) if kind in KINDS else None
    if item is None:
        raise NoSuchFeedback
    return item


def _triage_form(login: Login, item: FeedbackItem) -> TriageForm:
    """Return the form; an assignee who has left the workspace can stay."""
    form = TriageForm()
    names = {str(member.user_id): member.email for member in list_members(login.workspace_id)}
    for assignee in (_text(item.assignee_id), form.assignee_before.data):
        if assignee:
            names.setdefault(assignee, "somebody who has left")
    form.assignee.choices = [(UNASSIGNED, "nobody"), *names.items()]
    return form


def _fill(form: TriageForm, item: FeedbackItem) -> None:
    """Show the triage as it is now, with the comment that was written."""
    form.state.data = form.state_before.data = item.triage
    form.assignee.data = form.assignee_before.data = _text(item.assignee_id)


def _save(scope: Scope, item: FeedbackItem, form: TriageForm) -> None:
    if not form.assignee.raw_data:
        # A request of a script may name the state alone.
        form.assignee.data = form.assignee_before.data = _text(item.assignee_id)
    if not form.validate():
        raise Unprocessable("Please look at the fields that are marked.")
    change = triage.Change(form.state.data, _user_id(form.assignee.data))
    read = triage.Change(form.state_before.data or item.triage, _user_id(form.assignee_before.data))
    if form.comment.data and form.comment.data.strip():
        triage.add_comment(scope.environment.id, item, form.comment.data, scope.login)
    triage.set_triage(scope.environment.id, item, change, scope.login, read=read)


def _item_page(scope: Scope, item: FeedbackItem, form: TriageForm, error: ApiError | None = None) -> Page:
    environment_id, interaction_id = scope.environment.id, item.interaction_id
    key = (environment_id, interaction_id, scope.kept_since)
    interaction = INTERACTIONS.find(*key)
    variables = {
        "item": item,
        "report": REPORT_PAGES.find(*key) if item.kind == REPORT else None,
        "interaction": interaction,
        "neighbours": find_neighbours(scope, interaction) if interaction else None,
        "context": find_customer_context(scope, interaction_id, item.created_at),
        "comments": list_comments(environment_id, item.id),
        "names": dict(form.assignee.choices or ()),
        "form": form,
        "next_item": find_next_new(scope, item),
    }
    return _page(variables, error)


def _text(user_id: uuid.UUID | None) -> str:
    return str(user_id) if user_id else UNASSIGNED


def _user_id(text: str | None) -> uuid.UUID | None:
    return uuid.UUID(text) if text else None
