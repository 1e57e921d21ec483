"""The settings page: the products and environments of a workspace, and what each environment does."""

import uuid

from flask import redirect, request
from werkzeug.wrappers import Response
from wtforms import StringField
from wtforms.validators import InputRequired, Length

from app.accounts.guards import require_role
from app.accounts.rules import MAX_NAME_LENGTH
from app.accounts.sessions import Login
from app.core.database import savepoint
from app.core.errors import ApiError, NotFound, Unprocessable
from app.core.settings import current_settings
from app.dashboard.environment_form import EnvironmentForm, is_shorter, mode_previews, removal_of
from app.dashboard.forms import WriteForm
from app.dashboard.pages import Page, PageBlueprint, page_with_error, render
from app.dashboard.queries import ProductWithEnvironments, list_products
from app.dashboard.rules import MODE_LABELS
from app.dashboard.scope import environment_url, scoped_url
from app.products import service as products
from app.products.models import Environment
from app.products.rules import Mode

FIRST_ENVIRONMENT = "production"

NOTICES = {
    "product": "The product is added.",
    "environment": "The environment is added.",
    "renamed": "The name is changed.",
    "changed": "The settings are changed.",
}

settings = PageBlueprint("settings", has_login=True)


class NameForm(WriteForm):
    """A name."""

    name = StringField("Name", [InputRequired(), Length(max=MAX_NAME_LENGTH)])


class NewEnvironmentForm(WriteForm):
    """The name of another environment."""

    environment_name = StringField("Name of the environment", [InputRequired(), Length(max=MAX_NAME_LENGTH)])


class NewProductForm(NameForm):
    """A product with its first environment."""

    environment_name = StringField(
        "Its first environment", [InputRequired(), Length(max=MAX_NAME_LENGTH)], default=FIRST_ENVIRONMENT
    )


@settings.page("", "settings/page.html")
def show_settings(login: Login) -> Page:
    """Show the products and environments of the workspace."""
    return _settings_page(login, NewProductForm())


@settings.form("/products", "settings/page.html")
def create_product(login: Login) -> Page | Response:
    """Add a product with its first environment, or show the form again with the error."""
    form = NewProductForm()
    try:
        _validate(form)
        # The form is shown again with the list of products.
        with savepoint():
            product = products.create_product(login.workspace_id, form.name.data, login.actor)
            environment = products.create_environment(product.id, form.environment_name.data, login.actor)
    except Unprocessable as error:
        return _settings_page(login, form, error)
    return redirect(environment_url("settings.show_settings", environment.id, done="product"), 303)


@settings.page("/products/<uuid:product_id>", "settings/product.html")
def show_product(login: Login, product_id: uuid.UUID) -> Page:
    """Show the forms for a product's name and for another environment."""
    entry = _get_product(login, product_id)
    require_role()
    return _product_page(entry, NameForm(name=entry.product.name), NewEnvironmentForm())


@settings.form("/products/<uuid:product_id>", "settings/product.html")
def rename_product(login: Login, product_id: uuid.UUID) -> Page | Response:
    """Rename a product, or show the form again with the error."""
    entry, form = _get_product(login, product_id), NameForm()
    try:
        _validate(form)
        products.rename_product(product_id, form.name.data, login.actor)
    except Unprocessable as error:
        return _product_page(entry, form, NewEnvironmentForm(), error)
    return _done("renamed")


@settings.form("/products/<uuid:product_id>/environments", "settings/product.html")
def create_environment(login: Login, product_id: uuid.UUID) -> Page | Response:
    """Add an environment to a product, or show the form again with the error."""
    entry, form = _get_product(login, product_id), NewEnvironmentForm()
    try:
        _validate(form)
        environment = products.create_environment(product_id, form.environment_name.data, login.actor)
    except Unprocessable as error:
        return _product_page(entry, NameForm(name=entry.product.name), form, error)
    return redirect(environment_url("settings.show_settings", environment.id, done="environment"), 303)


@settings.page("/environments/<uuid:environment_id>", "settings/environment.html")
def show_environment(login: Login, environment_id: uuid.UUID) -> Page:
    """Show the settings of an environment, with what agents are told in each mode."""
    entry, environment = _get_environment(login, environment_id)
    require_role()
    return _environment_page(entry, environment, EnvironmentForm(**_values(environment)))


@settings.form("/environments/<uuid:environment_id>", "settings/environment.html")
def change_environment(login: Login, environment_id: uuid.UUID) -> Page | Response:
    """Change the settings of an environment; ask first where something would be removed."""
    entry, environment = _get_environment(login, environment_id)
    form = EnvironmentForm()
    try:
        _validate(form)
        if is_shorter(form, environment) and not form.is_confirmed.data:
            removal = removal_of(form, environment)
            variables = {"product": entry.product, "environment": environment, "form": form, "removal": removal}
            return render("settings/confirmation.html", Page(variables))
        _change(login, environment, form)
    except Unprocessable as error:
        return _environment_page(entry, environment, form, error)
    return _done("changed")


def _change(login: Login, environment: Environment, form: EnvironmentForm) -> None:
    products.rename_environment(environment.id, form.name.data, login.actor)
    products.set_environment(
        environment.id,
        mode=Mode(form.mode.data),
        retention_days=form.retention_days.data,
        evidence_retention_days=form.evidence_retention_days.data,
        actor=login.actor,
    )


def _validate(form: WriteForm) -> None:
    if not form.validate():
        raise Unprocessable("Nothing was changed: the form says why.")


def _done(notice: str) -> Response:
    return redirect(scoped_url("settings.show_settings", done=notice), 303)


def _get_product(login: Login, product_id: uuid.UUID) -> ProductWithEnvironments:
    for entry in list_products(login.workspace_id):
        if entry.product.id == product_id:
            return entry
    raise NotFound("There is no product with this id in this workspace.")


def _get_environment(login: Login, environment_id: uuid.UUID) -> tuple[ProductWithEnvironments, Environment]:
    for entry in list_products(login.workspace_id):
        for environment in entry.environments:
            if environment.id == environment_id:
                return entry, environment
    raise NotFound("There is no environment with this id in this workspace.")


def _values(environment: Environment) -> dict[str, object]:
    names = ("name", "mode", "retention_days", "evidence_retention_days")
    return {name: getattr(environment, name) for name in names}


def _settings_page(login: Login, form: NewProductForm, error: ApiError | None = None) -> Page:
    variables = {
        "products": list_products(login.workspace_id),
        "modes": MODE_LABELS,
        "form": form,
        "notice": NOTICES.get(request.args.get("done", "")),
    }
    return page_with_error(variables, error)


def _product_page(
    entry: ProductWithEnvironments, form: NameForm, environment_form: NewEnvironmentForm, error: ApiError | None = None
) -> Page:
    variables = {"product": entry.product, "form": form, "environment_form": environment_form}
    return page_with_error(variables, error)


def _environment_page(
    entry: ProductWithEnvironments, environment: Environment, form: EnvironmentForm, error: ApiError | None = None
) -> Page:
    variables = {
        "product": entry.product,
        "environment": environment,
        "form": form,
        "previews": mode_previews(),
        "service_name": current_settings().service_name,
    }
    return page_with_error(variables, error)
