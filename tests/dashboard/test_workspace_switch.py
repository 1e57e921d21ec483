"""A user of several workspaces switches between them in the head of every page."""

import re
import uuid

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.accounts.service import create_further_workspace
from app.core.database import transaction
from tests.dashboard.browser import fields, send
from tests.factories import Company, create_company, sign_in


@pytest.fixture
def second(company: Company) -> str:
    """The id of another workspace of the company's owner."""
    with transaction():
        return str(create_further_workspace(company.email, "Second company").id)


def options(client: FlaskClient, path: str = "/settings") -> list[str]:
    form = re.search(r'action="/workspace".*?</form>', client.get(path).text, re.DOTALL)
    return re.findall(r'<option value="([^"]+)"', form[0]) if form else []


def test_the_head_offers_the_own_workspaces(client: FlaskClient, company: Company, second: str) -> None:
    sign_in(client, company)
    assert options(client) == [str(company.workspace_id), second]
    assert options(client, "/account") == [str(company.workspace_id), second]


def test_a_user_of_one_workspace_is_offered_nothing(client: FlaskClient, company: Company) -> None:
    with transaction():
        create_company()
    sign_in(client, company)
    assert options(client) == []


def test_a_switch_holds_for_every_page_and_back(client: FlaskClient, company: Company, second: str) -> None:
    sign_in(client, company)
    answer = send(client, "/workspace", workspace=second)
    assert (answer.status_code, answer.location) == (303, "/")
    page = client.get("/settings").text
    assert "Second company" in page
    assert str(company.product_id) not in page
    # The workspace is empty: the switch is there without an environment too.
    assert send(client, "/workspace", workspace=str(company.workspace_id)).status_code == 303
    assert str(company.product_id) in client.get("/settings").text


def test_forms_and_tokens_from_before_the_switch_are_refused(
    app: Flask, client: FlaskClient, company: Company, second: str
) -> None:
    sign_in(client, company)
    old_form = fields(client.get("/settings"))
    (old_cookie,) = [cookie for cookie in client._cookies.values() if "session" in cookie.key]
    send(client, "/workspace", workspace=second)
    answer = client.post("/settings/products", data={**old_form, "name": "Shop", "environment_name": "production"})
    assert answer.status_code == 403
    thief = app.test_client()
    thief.set_cookie(old_cookie.key, old_cookie.value)
    assert thief.get("/api/session").status_code == 401


def test_a_foreign_or_unknown_workspace_is_not_found(client: FlaskClient, company: Company) -> None:
    with transaction():
        other = create_company()
    sign_in(client, company)
    for text in (str(other.workspace_id), str(uuid.uuid4()), "", "no id"):
        assert send(client, "/workspace", workspace=text).status_code == 404
    assert client.post("/workspace", data={"workspace": str(company.workspace_id)}).status_code == 403
    assert str(company.product_id) in client.get("/settings").text
