"""The pages of keys: the list, a new key, rotation, and revocation behind a page that says what it stops."""

import re
from datetime import timedelta

from flask import redirect, request
from werkzeug.wrappers import Response
from wtforms import BooleanField, IntegerField, RadioField
from wtforms.fields.choices import SelectChoice
from wtforms.validators import InputRequired, NumberRange, Optional

from app.accounts.guards import require_role
from app.core.errors import Conflict, Unprocessable
from app.core.settings import current_settings
from app.dashboard.forms import WriteForm
from app.dashboard.lists import Batch, FilterForm, ItemList, Place, choice_filter, list_page
from app.dashboard.pages import Page, PageBlueprint, page_with_error, render
from app.dashboard.scope import Scope, scoped_url
from app.products import queries
from app.products import service as products
from app.products.queries import KeyItem, NoSuchKey
from app.products.rules import MAX_OVERLAP_HOURS, KeyKind, KeyState
from app.products.schemas import KeyItemSchema
from app.products.service import NewKey

MAX_EXPIRY_DAYS = 3650
DEFAULT_OVERLAP_HOURS = 24

KIND_LABELS = {
    KeyKind.PRODUCT: "product: The backend sends telemetry and signs what agents answer with",
    KeyKind.COMPANY: "company: The backend manages fields, reads context, sends evidence",
    KeyKind.READ: "read: Other systems read feedback and change nothing",
}
NOTICES = {"revoked": "The key is revoked. Within a second no request with it is accepted."}

_KEY_ID = re.compile(r"[0-9a-f]{32}\Z")

keys = PageBlueprint("keys", has_scope=True)


class KeyFilters(FilterForm):
    """Which keys are listed."""

    kind = choice_filter("Kind", map(str, KeyKind))
    state = choice_filter("State", map(str, KeyState))


class NewKeyForm(WriteForm):
    """A key to create."""

    # The filter of the same page has the other id.
    kind = RadioField(
        "Kind",
        id="new_kind",
        choices=[SelectChoice(str(kind), label) for kind, label in KIND_LABELS.items()],
        default=str(KeyKind.PRODUCT),
    )
    expiry_days = IntegerField("Expires after days", [Optional(), NumberRange(1, MAX_EXPIRY_DAYS)])
    has_company_right = BooleanField("Give a product key the company right too")


class RotationForm(WriteForm):
    """How long a key that is replaced stays valid."""

    overlap_hours = IntegerField(
        "Overlap in hours", [InputRequired(), NumberRange(0, MAX_OVERLAP_HOURS)], default=DEFAULT_OVERLAP_HOURS
    )


@keys.page("", "keys/page.html")
def list_keys(scope: Scope) -> Page:
    """List the keys of the environment, newest first."""
    return _list_page(scope, NewKeyForm())


@keys.export()
def export_keys(scope: Scope) -> ItemList:
    """Export the list."""
    return _list(scope, KeyFilters(request.args))


@keys.form("", "keys/page.html")
def create_key(scope: Scope) -> Page | Response:
    """Create a key and show it this once, or show the form again with the error."""
    form = NewKeyForm()
    if not form.validate():
        return _list_page(scope, form, Unprocessable("The key was not created: the form says why."))
    try:
        key = products.create_key(
            scope.environment.id,
            KeyKind(form.kind.data),
            has_company_right=form.has_company_right.data,
            expires_in=timedelta(days=form.expiry_days.data) if form.expiry_days.data else None,
            actor=scope.login.actor,
        )
    except Unprocessable as error:
        return _list_page(scope, form, error)
    return _secret_page(scope, key)


@keys.page("/<key_id>/rotate", "keys/rotate.html")
def show_rotation(scope: Scope, key_id: str) -> Page:
    """Ask how long the old key stays valid."""
    key = _get_key(scope, key_id)
    require_role()
    return Page({"key": key, "form": RotationForm()})


@keys.form("/<key_id>/rotate", "keys/rotate.html")
def rotate_key(scope: Scope, key_id: str) -> Page | Response:
    """Replace a key and show its successor this once, or show the form again with the error."""
    key, form = _get_key(scope, key_id), RotationForm()
    if not form.validate():
        return page_with_error({"key": key, "form": form}, Unprocessable("The key was not rotated: the form says why."))
    try:
        successor = products.rotate_key(key.id, form.overlap_hours.data, scope.login.actor)
    except (Unprocessable, Conflict) as error:
        return page_with_error({"key": key, "form": form}, error)
    return _secret_page(scope, successor, replaced_key=_get_key(scope, key_id))


@keys.page("/<key_id>/revoke", "keys/revoke.html")
def show_revocation(scope: Scope, key_id: str) -> Page:
    """Say what stops working when the key is revoked."""
    key = _get_key(scope, key_id)
    require_role()
    return Page({"key": key})


@keys.form("/<key_id>/revoke")
def revoke_key(scope: Scope, key_id: str) -> Response:
    """Revoke a key at once."""
    products.revoke_key(_get_key(scope, key_id).id, scope.login.actor)
    return redirect(scoped_url("keys.list_keys", done="revoked"), 303)


def _get_key(scope: Scope, key_id: str) -> KeyItem:
    if not _KEY_ID.match(key_id):
        raise NoSuchKey
    return queries.get_key(scope.environment.id, key_id)


def _list_page(scope: Scope, form: NewKeyForm, error: Unprocessable | None = None) -> Page:
    filters = KeyFilters(request.args)
    variables = {
        "filters_form": filters,
        "list": list_page(_list(scope, filters)),
        "form": form,
        "notice": NOTICES.get(request.args.get("done", "")),
    }
    return page_with_error(variables, error)


def _secret_page(scope: Scope, key: NewKey, replaced_key: KeyItem | None = None) -> Response:
    item, endpoint = queries.get_key(scope.environment.id, key.id), current_settings().feedback_url
    variables = {"key": item, "secret": key.text, "replaced_key": replaced_key, "endpoint": endpoint}
    return render("keys/secret.html", Page(variables))


def _list(scope: Scope, filters: KeyFilters) -> ItemList:
    environment_id, values = scope.environment.id, filters.values()

    def read(limit: int, place: Place | None) -> Batch:
        after = _key_id(place) if place else None
        rows = queries.list_keys(environment_id, limit + 1, after=after, filters=values)
        items = rows[:limit]
        return Batch(items, [items[-1].id] if len(rows) > limit else None)

    return ItemList("keys", KeyItemSchema, read, (environment_id, *sorted(values.items())))


def _key_id(place: Place) -> str:
    """Return the id of the key behind which a page begins, or raise `ValueError` for a place that no page has."""
    (key_id,) = place
    if not _KEY_ID.match(key_id):
        raise ValueError(key_id)
    return key_id
