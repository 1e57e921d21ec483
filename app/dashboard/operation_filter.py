"""The filter of lists for one operation, whose name has to be exact, with the names that there are to choose from."""

from wtforms import StringField

from app.dashboard.lists import text_filter
from app.dashboard.scope import Scope
from app.interactions.rules import MAX_OPERATION_LENGTH
from app.summaries.queries import OperationCriteria, list_operations
from app.summaries.rules import Sort

MAX_NAMES = 200
"""The most used ones."""


def operation_filter() -> StringField:
    """Return the field; a page with it includes `components/operation_names.html`."""
    return text_filter("Operation (exact)", MAX_OPERATION_LENGTH, render_kw={"list": "operation-names"})


def list_operation_names(scope: Scope) -> list[str]:
    """Return the operations of the shown days, the most used first."""
    items = list_operations(scope.environment.id, OperationCriteria(scope.days, Sort.INTERACTIONS), MAX_NAMES)
    return [item.operation for item in items]
