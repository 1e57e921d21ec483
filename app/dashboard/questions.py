"""The pages of questions: the product's catalog as an agent sees it, and its editor."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
from flask import redirect, request
from werkzeug.wrappers import Response
from wtforms import SelectField

from app.accounts.guards import require_role
from app.catalog import service as catalogs
from app.catalog.entries import PRODUCT_VERSION, Catalog, Entry, catalog_file, hash_entries
from app.catalog.models import FieldDefinition
from app.catalog.rules import CANONICAL_TYPES, MAX_FIELDS
from app.catalog.schemas import FieldPathSchema
from app.catalog.service import Editor, UnknownField
from app.core.errors import ApiError
from app.customers.rules import PURPOSES, ContextPurpose
from app.dashboard.export_schemas import QuestionSchema
from app.dashboard.labels import choices_of
from app.dashboard.lists import FilterForm, ItemList, export_urls, text_filter, whole_list
from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.question_form import QuestionForm, entry_values, field_values
from app.dashboard.question_list import find_questions
from app.dashboard.scope import Scope, scoped_url
from app.enrichment import views
from app.enrichment.rules import is_usable
from app.interactions.rules import MAX_OPERATION_LENGTH, normalize_operation

NOTICES = {"saved": "The question is saved.", "removed": "The question is removed."}

questions = PageBlueprint("questions", has_scope=True)


class AgentFilters(FilterForm):
    """For which request the catalog is shown as its agent sees it."""

    purpose = SelectField("Purpose", choices=choices_of(PURPOSES), default=str(ContextPurpose.PRODUCT_PERSONALIZATION))
    operation = text_filter("Operation", MAX_OPERATION_LENGTH)

    @property
    def is_set(self) -> bool:
        """Whether any filter differs from what is shown without one."""
        return bool(self.operation.data) or self.purpose.data != self.purpose.default


@dataclass(frozen=True, slots=True)
class Preview:
    """What an agent would see of a question, and the catalog that would result."""

    entry_text: str | None
    """None where no agent would see it."""
    catalog: Catalog
    replaced_keys: Sequence[str]
    """The built-in questions that would not be asked any more."""
    is_last: bool
    """Whether the built-in questions would be asked again."""

    @property
    def hash(self) -> str:
        """The hash of the catalog."""
        return hash_entries(self.catalog.entries)


@questions.page("", "questions/page.html")
def list_questions(scope: Scope) -> Page:
    """Show the product's own questions and the built-in ones, and what an agent is shown of them."""
    filters = AgentFilters(request.args)
    values = filters.values()
    lists = find_questions(scope)
    return Page(
        {
            "questions": lists,
            "hash": hash_entries(lists.catalog.entries),
            "max_fields": MAX_FIELDS,
            "filters_form": filters,
            "agent_text": _agent_text(lists.catalog, **values),
            "reason": _reason(lists.catalog, **values),
            "export_urls": export_urls(),
            "notice": NOTICES.get(request.args.get("done", "")),
        }
    )


@questions.export()
def export_questions(scope: Scope) -> ItemList:
    """Export the questions with their counts, whatever an agent is shown of them."""
    lists = find_questions(scope)
    return whole_list("questions", QuestionSchema, [*lists.own, *lists.built_in, *lists.former])


@questions.page("/new", "questions/edit.html")
def new_question(_: Scope) -> Page:
    """Show the form of a new question, which may begin as a built-in one."""
    require_role()
    entry = next((entry for entry in _built_in() if entry.key == request.args.get("from")), None)
    return _form_page(QuestionForm(**entry_values(entry)))


@questions.form("/new", "questions/edit.html")
def add_question(scope: Scope) -> Page | Response:
    """Add a question, or show the form again with what is wrong."""
    form = QuestionForm()
    try:
        key, new_field = form.read()
        catalogs.add(_editor(scope), key, new_field)
    except ApiError as error:
        return _form_page(form, error)
    return _done("saved")


@questions.page("/fields/<key>", "questions/edit.html")
def edit_question(scope: Scope, key: str) -> Page:
    """Show the form of one of the product's own questions."""
    form = QuestionForm(**field_values(_get(scope, key)))
    require_role()
    # The rules may have become stricter since it was stored; what is wrong is told when it is saved.
    with suppress(ApiError):
        return _form_page(form, key=key, preview=_preview(scope, form))
    return _form_page(form, key=key)


@questions.form("/fields/<key>", "questions/edit.html")
def change_question(scope: Scope, key: str) -> Page | Response:
    """Change a question unless somebody else has meanwhile, or show the form again with what is wrong."""
    _get(scope, key)
    form = QuestionForm(key=key)
    form.key.data = key
    try:
        _, new_field = form.read()
        catalogs.change(_editor(scope), key, new_field, form.read_version())
    except ApiError as error:
        return _form_page(form, error, key=key)
    return _done("saved")


@questions.form("/preview", "questions/edit.html")
def preview_question(scope: Scope) -> Page:
    """Show the form with what an agent would see of it; nothing is stored."""
    form = QuestionForm()
    key = (form.key.data or None) if form.read_version() else None
    try:
        preview = _preview(scope, form)
    except ApiError as error:
        # It is what was asked for, also where it is asked for at each key that is typed.
        form.show_error(error)
        return _form_page(form, key=key)
    return _form_page(form, key=key, preview=preview)


@questions.page("/fields/<key>/remove", "questions/remove.html")
def confirm_removal(scope: Scope, key: str) -> Page:
    """Ask whether a question shall be removed, with what follows."""
    field = _get(scope, key)
    require_role()
    return _removal_page(scope, field)


@questions.form("/fields/<key>/remove", "questions/remove.html")
def remove_question(scope: Scope, key: str) -> Page | Response:
    """Remove a question unless somebody else has changed it since the page was shown."""
    field = _get(scope, key)
    try:
        catalogs.delete_version(_editor(scope), key, QuestionForm().read_version())
    except catalogs.FieldChanged as error:
        return _removal_page(scope, field, error)
    return _done("removed")


def _editor(scope: Scope) -> Editor:
    return Editor(scope.product.workspace_id, scope.product.id, scope.login.actor)


def _get(scope: Scope, key: str) -> FieldDefinition:
    """Return a question of the product's own, or raise `UnknownField`, also for what is no key at all."""
    try:
        FieldPathSchema().accept({"key": key})
    except ApiError:
        raise UnknownField([]) from None
    return catalogs.get(scope.product.id, key)


def _done(notice: str) -> Response:
    return redirect(scoped_url("questions.list_questions", done=notice), 303)


def _form_page(
    form: QuestionForm, error: ApiError | None = None, *, key: str | None = None, preview: Preview | None = None
) -> Page:
    if error:
        form.show_error(error)
    variables = {"form": form, "key": key, "preview": preview, "types": CANONICAL_TYPES}
    return Page(variables, error.status if error else 200)


def _removal_page(scope: Scope, field: FieldDefinition, error: ApiError | None = None) -> Page:
    active_fields = [field for field in catalogs.list_all(scope.product.id).fields_ if field.enabled]
    is_last = field.enabled and len(active_fields) == 1
    variables = {"field": field, "is_last": is_last, "built_in_count": len(_built_in()), "error": error}
    return Page(variables, error.status if error else 200)


def _preview(scope: Scope, form: QuestionForm) -> Preview:
    key, new_field = form.read()
    was_built_in = catalogs.get_catalog(scope.product.id).version != PRODUCT_VERSION
    catalog = catalogs.preview(_editor(scope), key, new_field)
    is_built_in = catalog.version != PRODUCT_VERSION
    entry = next((entry for entry in catalog.entries if entry.key == key and not is_built_in), None)
    return Preview(
        entry_text=_json(entry.as_wire()) if entry else None,
        catalog=catalog,
        replaced_keys=[entry.key for entry in _built_in()] if was_built_in and not is_built_in else [],
        is_last=is_built_in and not was_built_in,
    )


def _built_in() -> Sequence[Entry]:
    return catalog_file().catalog.entries


def _agent_text(catalog: Catalog, purpose: str, operation: str = "") -> str:
    return _json(views.preview(catalog, normalize_operation(operation), purpose))


def _reason(catalog: Catalog, purpose: str, operation: str = "") -> str | None:
    """Return why an agent is asked nothing, None if it is asked."""
    if views.usable_entries(catalog, normalize_operation(operation), purpose):
        return None
    if not any(is_usable(entry.targeted_advertising_safe, purpose) for entry in catalog.entries):
        return "No question is asked for this purpose."
    if operation:
        return "No question is asked of this operation."
    return "These questions are asked of their operations only: name one to see what its agents are shown."


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
