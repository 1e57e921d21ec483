"""Products and environments are added, renamed and set on the page of the settings."""

import re
import uuid
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from app.accounts import users
from app.accounts.models import AuditEntry
from app.core.database import session, transaction
from app.core.errors import Unprocessable
from app.core.settings import current_settings
from app.interactions import service as interactions
from app.products import service as products
from app.products.models import Environment, Product
from app.telemetry import persistence
from tests.context_api import Clock
from tests.dashboard.browser import fields, send
from tests.factories import (
    Company,
    create_company,
    event,
    observation,
    send_events,
    send_evidence,
    send_review,
    sign_in,
)

SETTINGS = {"name": "production", "mode": "never_ask", "retention_days": "90", "evidence_retention_days": "90"}


@pytest.fixture
def owner(client: FlaskClient, company: Company) -> FlaskClient:
    sign_in(client, company)
    return client


def environment_of(company: Company) -> Environment:
    with transaction():
        return session().get_one(Environment, company.environment_id)


def last_entry() -> tuple[str, str, dict[str, Any]]:
    with transaction():
        entry = session().scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(1)).one()
        return entry.action, entry.actor.partition(" ")[0], entry.details


def path_of(company: Company) -> str:
    return f"/settings/environments/{company.environment_id}"


def test_the_page_has_products_and_environments_with_ids_and_modes(owner: FlaskClient, company: Company) -> None:
    page = owner.get("/settings").text
    for text in (company.workspace_id, company.product_id, company.environment_id, "never_ask: nobody is asked"):
        assert str(text) in page


def test_a_workspace_without_anything_adds_its_first_product(owner: FlaskClient, company: Company) -> None:
    with transaction():
        session().delete(session().get_one(Product, company.product_id))
    assert "No product yet" in owner.get("/settings").text
    answer = send(owner, "/settings/products", "/settings", name="Shop", environment_name="production")
    assert answer.status_code == 303
    page = owner.get(answer.location).text
    assert "The product is added" in page
    assert re.search(r">Shop</h2>", page)
    assert "No environment yet" not in owner.get("/keys").text
    assert last_entry()[:2] == ("environment.created", "user")


@pytest.mark.parametrize("name", ["", " ", "x" * 121, "a\x00b", "\u3164"])
def test_a_name_that_is_none_adds_nothing(owner: FlaskClient, company: Company, name: str) -> None:
    for path, page, field in (
        ("/settings/products", "/settings", "name"),
        (f"/settings/products/{company.product_id}", "/settings", "name"),
        (f"/settings/products/{company.product_id}/environments", "/settings", "environment_name"),
    ):
        answer = send(owner, path, page, **{"name": "Shop", "environment_name": "staging", field: name})
        assert answer.status_code == 422, path
    with transaction():
        assert len(session().scalars(select(Product)).all()) == 1
        assert len(session().scalars(select(Environment)).all()) == 1


def test_a_product_whose_environment_has_no_name_is_not_added(owner: FlaskClient) -> None:
    before = last_entry()
    answer = send(owner, "/settings/products", "/settings", name="Shop", environment_name="\u3164")
    assert answer.status_code == 422
    assert not re.search(r">Shop</h2>", answer.text)
    assert not re.search(r">Shop</h2>", owner.get("/settings").text)
    assert last_entry() == before


def test_what_precedes_the_error_of_a_page_is_not_kept(
    owner: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(product_id: uuid.UUID, name: str, actor: str) -> None:
        products.create_environment(product_id, name, actor)
        raise Unprocessable("Not this name.")

    monkeypatch.setattr(products, "rename_product", fail)
    path = f"/settings/products/{company.product_id}"
    answer = send(owner, path, path, name="Shop")
    assert answer.status_code == 422
    assert "Not this name." in answer.text
    with transaction():
        assert len(session().scalars(select(Environment)).all()) == 1


def test_a_product_is_renamed_with_its_name_before_in_the_audit_log(owner: FlaskClient, company: Company) -> None:
    path = f"/settings/products/{company.product_id}"
    assert 'value="Example product"' in owner.get(path).text
    assert send(owner, path, path, name="<b>Shop</b>").status_code == 303
    assert "&lt;b&gt;Shop" in owner.get("/settings").text
    assert "<b>Shop" not in owner.get("/settings").text
    details = {"name": "<b>Shop</b>", "previous": {"name": "Example product"}}
    assert last_entry() == ("product.changed", "user", details)


def test_an_environment_is_added_to_a_product(owner: FlaskClient, company: Company) -> None:
    path = f"/settings/products/{company.product_id}"
    answer = send(owner, f"{path}/environments", path, environment_name="staging")
    assert "staging" in owner.get(answer.location).text
    assert "environment=" in answer.location


def test_each_mode_shows_the_question_that_agents_ask(owner: FlaskClient, company: Company) -> None:
    page = unescape(owner.get(path_of(company)).text)
    assert f"{current_settings().service_name} will remember your choice for this product." in page
    assert "one short, privacy-safe outcome report about this use?" in page
    assert "Submit before your final response without asking the user" in page


def test_settings_are_changed_with_their_values_before_in_the_audit_log(owner: FlaskClient, company: Company) -> None:
    path = path_of(company)
    values = {**SETTINGS, "mode": "ask_once", "retention_days": "120"}
    assert send(owner, path, path, **values).status_code == 303
    changed = environment_of(company)
    assert (changed.mode, changed.retention_days, changed.evidence_retention_days) == ("ask_once", 120, 90)
    previous = {"mode": "never_ask", "retention_days": 90}
    details = {"mode": "ask_once", "retention_days": 120, "previous": previous}
    assert last_entry() == ("environment.changed", "user", details)


def test_nothing_is_recorded_where_nothing_changes(owner: FlaskClient, company: Company) -> None:
    before = last_entry()
    assert send(owner, path_of(company), path_of(company), **SETTINGS).status_code == 303
    assert last_entry() == before


@pytest.mark.parametrize(
    ("field", "value"),
    [("mode", "sometimes"), ("retention_days", "0"), ("evidence_retention_days", "366"), ("name", "")],
)
def test_a_wrong_setting_changes_nothing(owner: FlaskClient, company: Company, field: str, value: str) -> None:
    path = path_of(company)
    answer = send(owner, path, path, **{**SETTINGS, "mode": "off", field: value})
    assert answer.status_code == 422
    assert environment_of(company).mode == "never_ask"


def test_a_shorter_retention_says_first_what_leaves(owner: FlaskClient, company: Company, clock: Clock) -> None:
    events = [event() for _ in range(3)]
    send_events(owner, company, *events)
    send_review(owner, company.capability(events[0]["interactionId"]))
    send_evidence(owner, company, observation(), observation())
    persistence.persist_waiting_batches()
    interactions.promote_queued_interactions()
    clock.advance(days=10)
    sign_in(owner, company)
    send_events(owner, company, event())
    persistence.persist_waiting_batches()
    path = path_of(company)
    values = {**SETTINGS, "retention_days": "5", "evidence_retention_days": "7"}
    page = send(owner, path, path, **values)
    assert page.status_code == 200
    figures = re.findall(r"<dt>([^<]*) that leave</dt><dd>([^<]*)</dd>", page.text)
    assert figures == [("Interactions", "3"), ("Reviews", "1"), ("Reports", "0"), ("Evidence events", "2")]
    assert environment_of(company).retention_days == 90
    answer = owner.post(path, data=fields(page))
    assert answer.status_code == 303
    assert (environment_of(company).retention_days, environment_of(company).evidence_retention_days) == (5, 7)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"retention_days": "100", "evidence_retention_days": "7"}, ["Evidence events"]),
        ({"retention_days": "7", "evidence_retention_days": "100"}, ["Interactions", "Reviews", "Reports"]),
    ],
)
def test_only_what_becomes_shorter_is_counted(
    owner: FlaskClient, company: Company, values: dict[str, str], names: list[str]
) -> None:
    path = path_of(company)
    page = send(owner, path, path, **{**SETTINGS, **values}).text
    assert re.findall(r"<dt>([^<]*) that leave</dt>", page) == names


def test_a_member_sees_the_settings_and_no_form(client: FlaskClient, company: Company) -> None:
    with transaction():
        user = users.create_user(company.workspace_id, "member@example.com", "member")
    sign_in(client, company, json={"email": user.email, "password": user.password})
    page = client.get("/settings").text
    assert str(company.environment_id) in page
    assert "Add the product" not in page
    assert "/settings/environments/" not in page
    assert client.get(path_of(company)).status_code == 403
    assert client.get(f"/settings/products/{company.product_id}").status_code == 403
    assert send(client, path_of(company), **SETTINGS).status_code == 403
    assert send(client, "/settings/products", name="a", environment_name="b").status_code == 403


def test_what_belongs_to_another_workspace_is_not_found(owner: FlaskClient) -> None:
    with transaction():
        other = create_company()
    assert send(owner, path_of(other), **{**SETTINGS, "mode": "off"}).status_code == 404
    assert send(owner, f"/settings/products/{other.product_id}", name="mine").status_code == 404
    assert send(owner, f"/settings/products/{other.product_id}/environments", environment_name="a").status_code == 404
    assert environment_of(other).mode == "never_ask"
