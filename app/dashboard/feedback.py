"""The pages of feedback: reviews and reports in one list, one of them with its triage, and the findings of reports."""

import uuid

import orjson
from flask import redirect, request
from werkzeug.wrappers import Response
from wtforms import HiddenField, SelectField, TextAreaField
from wtforms.validators import UUID, Length, Optional

from app.accounts.sessions import Login
from app.accounts.users import list_members
from app.core.database import savepoint
from app.core.database.pages import Criteria
from app.core.errors import ApiError, NotFound, Unprocessable
from app.dashboard.customer_context import find_customer_context
from app.dashboard.export_schemas import FindingGroupSchema
from app.dashboard.forms import WriteForm
from app.dashboard.lists import (
    FilterForm,
    ItemList,
    choice_filter,
    export_urls,
    list_by_position,
    list_page,
    text_filter,
    whole_list,
)
from app.dashboard.neighbours import find_neighbours
from app.dashboard.pages import Page, PageBlueprint, page_with_error
from app.dashboard.scope import Scope, scoped_url
from app.interactions.queries import INTERACTIONS
from app.interactions.rules import MAX_OPERATION_LENGTH, SURFACES, UNKNOWN_SURFACE
from app.outcomes.rules import OUTCOMES
from app.reports.queries import MAX_SUMMARIZED_REPORTS, REPORT_PAGES, summarize_findings
from app.reports.rules import IMPACTS, MAX_TOPIC_LENGTH
from app.reports.rules import KINDS as FINDING_KINDS
from app.triage import service as triage
from app.triage.queries import FeedbackItem, find_feedback, list_comments
from app.triage.queries import list_feedback as read_feedback
from app.triage.rules import KINDS, MAX_COMMENT_LENGTH, REPORT, REVIEW, STATES
from app.triage.schemas import FeedbackItemSchema
from app.triage.service import TriageChanged

feedback = PageBlueprint("feedback", has_scope=True)

MAX_WORDS_LENGTH = 200

NO_KIND = "none"
"""What filters for reviews and for reports ask for together."""

UNASSIGNED = ""


class NoSuchFeedback(NotFound):
    """The environment has no such review or report."""

    sentence = "There is no such review or report in this environment."


class FeedbackFilters(FilterForm):
    """Which reviews and reports are listed."""

    q = text_filter("Search in notes", MAX_WORDS_LENGTH)
    triage = choice_filter("Triage", STATES)
    outcome = choice_filter("Outcome", OUTCOMES)
    operation = text_filter("Operation", MAX_OPERATION_LENGTH)
    kind = choice_filter("Kind", KINDS)
    surface = choice_filter("Surface", (*SURFACES, UNKNOWN_SURFACE))
    impact = choice_filter("Impact", IMPACTS)
    finding = choice_filter("Finding", FINDING_KINDS)
    topic = text_filter("Topic", MAX_TOPIC_LENGTH)


class TriageForm(WriteForm):
    """State, assignee and comment, and the state and assignee that the form was filled from."""

    state_before = HiddenField()
    assignee_before = HiddenField(validators=[Optional(), UUID()])
    state = SelectField("State", choices=STATES)
    assignee = SelectField("Assignee")
    comment = TextAreaField("Comment", [Optional(), Length(max=MAX_COMMENT_LENGTH)])


@feedback.page("", "feedback/page.html")
def list_feedback(scope: Scope) -> Page:
    """List the reviews and reports of the environment, newest first."""
    filters = FeedbackFilters(request.args)
    return Page({"filters_form": filters, "list": list_page(_list(scope, filters))})


@feedback.export()
def export_items(scope: Scope) -> ItemList:
    """Export the list."""
    return _list(scope, FeedbackFilters(request.args))


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
def show_item(scope: Scope, kind: str, interaction_id: uuid.UUID) -> Page:
    """Show the review or the report of an interaction."""
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
    return redirect(scoped_url("feedback.show_item", kind=kind, interaction_id=interaction_id), 303)


def _list(scope: Scope, form: FeedbackFilters) -> ItemList:
    values = form.values()
    finding = {name: values.pop(key) for name, key in (("kind", "finding"), ("topic", "topic")) if key in values}
    kinds = {
        values.get("kind"),
        REVIEW if "outcome" in values else None,
        REPORT if "impact" in values or finding else None,
    } - {None}
    if kinds:
        values["kind"] = kinds.pop() if len(kinds) == 1 else NO_KIND
    if finding:
        values["finding"] = orjson.dumps([finding]).decode()
    criteria = Criteria(scope.environment.id, since=scope.since, filters=values)
    return list_by_position(
        "feedback",
        FeedbackItemSchema,
        lambda limit, position: read_feedback(criteria, limit, position),
        (scope.environment.id, *sorted(values.items())),
    )


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
    if not form.validate():
        raise Unprocessable("Please look at the fields that are marked.")
    change = triage.Change(form.state.data, _user_id(form.assignee.data))
    read = triage.Change(form.state_before.data, _user_id(form.assignee_before.data))
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
    }
    return page_with_error(variables, error)


def _text(user_id: uuid.UUID | None) -> str:
    return str(user_id) if user_id else UNASSIGNED


def _user_id(text: str | None) -> uuid.UUID | None:
    return uuid.UUID(text) if text else None
