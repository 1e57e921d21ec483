"""The filters of the list of feedback, which its pages keep, and what they list."""

from typing import Any

import orjson
from flask import request

from app.core.database.pages import Criteria, Position
from app.dashboard.lists import (
    AFTER,
    DONE,
    PAGE_SIZE,
    FilterForm,
    ItemList,
    choice_filter,
    list_by_position,
    text_filter,
    url_with,
)
from app.dashboard.operation_filter import operation_filter
from app.dashboard.scope import Scope, scoped_url
from app.interactions.rules import SURFACES, UNKNOWN_SURFACE
from app.outcomes.rules import OUTCOMES
from app.reports.rules import IMPACTS, MAX_TOPIC_LENGTH
from app.reports.rules import KINDS as FINDING_KINDS
from app.triage.queries import FeedbackItem, count_feedback, list_feedback
from app.triage.rules import KINDS, NEW, REPORT, REVIEW, STATES
from app.triage.schemas import FeedbackItemSchema

MAX_WORDS_LENGTH = 200

SUCCESS = "success"
"""The outcome that nobody has to look at."""

NO_KIND = "none"
"""What filters for reviews and for reports ask for together."""


class FeedbackFilters(FilterForm):
    """Which reviews and reports are listed."""

    q = text_filter("Search in notes", MAX_WORDS_LENGTH)
    triage = choice_filter("Triage", STATES)
    outcome = choice_filter("Outcome", OUTCOMES)
    operation = operation_filter()
    kind = choice_filter("Kind", KINDS)
    surface = choice_filter("Surface", (*SURFACES, UNKNOWN_SURFACE))
    impact = choice_filter("Impact", IMPACTS)
    finding = choice_filter("Finding", FINDING_KINDS)
    topic = text_filter("Topic", MAX_TOPIC_LENGTH)


FILTERS = frozenset(FeedbackFilters().data)


def filtered_url(endpoint: str, *, after: str = "", done: str = "", **values: Any) -> str:
    """Return the address of a page of feedback with the filters of the current one."""
    filters = {name: value for name, value in request.args.items() if name in FILTERS}
    return url_with(scoped_url(endpoint, **values), {**filters, AFTER: after, DONE: done})


def feedback_list(scope: Scope, form: FeedbackFilters) -> ItemList:
    """Return the list of the reviews and reports of the environment that have the filters, newest first."""
    criteria = _criteria(scope, form.values())
    return list_by_position(
        "feedback",
        FeedbackItemSchema,
        lambda limit, position: list_feedback(criteria, limit, position),
        (scope.environment.id, *sorted(criteria.filters.items())),
        lambda: count_feedback(criteria),
    )


def _criteria(scope: Scope, values: dict[str, Any]) -> Criteria:
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
    return Criteria(scope.environment.id, since=scope.since, filters=values)


def find_next_new(scope: Scope, item: FeedbackItem) -> FeedbackItem | None:
    """Return the next one behind an item that has the filters of the page and is not triaged, past successes.

    It is looked for as far as a page of the list reaches.
    """
    form = FeedbackFilters(request.args)
    if not form.validate():
        return None
    criteria = _criteria(scope, {**form.values(), "triage": NEW})
    rows = list_feedback(criteria, PAGE_SIZE, Position(item.created_at, item.id)).rows
    return next((row for row in rows if row.outcome != SUCCESS or form.outcome.data == SUCCESS), None)
