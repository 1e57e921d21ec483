"""The home page, error pages, security headers and roles."""

import json
import re
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.accounts import guards
from app.accounts.guards import InsufficientRole
from app.accounts.rules import ROLES
from app.accounts.sessions import Login
from app.core.database import Database, session, transaction
from app.core.errors import DatabaseUnavailable
from app.products.models import Product
from tests.conftest import ROOT
from tests.factories import SESSION_COOKIE, Company, create_company, sign_in


def test_only_the_decorator_and_exports_open_transactions() -> None:
    modules = [path for path in (ROOT / "app/dashboard").glob("*.py") if "transaction()" in path.read_text()]
    assert sorted(path.name for path in modules) == ["lists.py", "pages.py"]


def test_nothing_of_another_workspace_is_shown(client: FlaskClient, company: Company) -> None:
    with transaction():
        other_company = create_company()
    sign_in(client, company)
    page = client.get("/").text
    for text in (
        other_company.workspace_id,
        other_company.product_id,
        other_company.environment_id,
        other_company.email,
    ):
        assert str(text) not in page


def test_an_empty_workspace_is_told_how_to_begin(client: FlaskClient, company: Company) -> None:
    with transaction():
        session().delete(session().get_one(Product, company.product_id))
    sign_in(client, company)
    for path in ("/", "/feedback", "/interactions", "/keys"):
        assert "Add a product and its environment" in client.get(path).text


@pytest.mark.parametrize("path", ["/", "/sign-in", "/playground", "/sign-out", "/static/style.css"])
@pytest.mark.parametrize("is_signed_in", [False, True])
def test_every_page_has_the_security_headers(
    client: FlaskClient, company: Company, path: str, *, is_signed_in: bool
) -> None:
    if is_signed_in:
        sign_in(client, company)
    with client.post(path) if path == "/sign-out" else client.get(path) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        if not path.startswith("/static"):
            assert "no-store" in answer.headers["Cache-Control"]


def test_no_page_has_inline_scripts_or_styles(client: FlaskClient, company: Company) -> None:
    pages = [client.get("/sign-in").text]
    sign_in(client, company)
    pages.append(client.get("/").text)
    for page in pages:
        assert not re.search(r"<script(?![^>]* src=)", page)
        assert "style=" not in page
        assert not re.search(r"\son\w+=", page)


def raise_unavailable(*_: object) -> None:
    raise DatabaseUnavailable


def test_an_unavailable_database_is_reported_on_a_page(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Database, "execute_prepared", raise_unavailable)
    client.set_cookie(SESSION_COOKIE, "A" * 43)
    answer = client.get("/")
    assert (answer.status_code, answer.mimetype, answer.headers["Retry-After"]) == (503, "text/html", "1")


BROWSER_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def test_a_browser_gets_a_page_with_a_link_home_for_an_unknown_address(client: FlaskClient) -> None:
    answer = client.get("/nothing-here", headers={"Accept": BROWSER_ACCEPT})
    assert (answer.status_code, answer.mimetype) == (404, "text/html")
    assert '<a href="/">To the start page</a>' in answer.text
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert "Accept" in answer.headers["Vary"]


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "application/json, text/html;q=0.9", "nonsense"])
def test_a_program_gets_json_for_an_unknown_address(client: FlaskClient, accept: str | None) -> None:
    answer = client.get("/nothing-here", headers={"Accept": accept} if accept else {})
    assert (answer.status_code, answer.mimetype, answer.json["code"]) == (404, "application/json", "not_found")


@pytest.mark.parametrize("accept", [None, "*/*", BROWSER_ACCEPT])
@pytest.mark.parametrize("path", ["/nothing-here", "/interactions/abc", "/customers/xyz", "/invite/x/y"])
def test_whoever_is_signed_in_gets_a_page_for_an_unknown_address(
    client: FlaskClient, company: Company, path: str, accept: str | None
) -> None:
    sign_in(client, company)
    answer = client.get(path, headers={"Accept": accept} if accept else {})
    assert (answer.status_code, answer.mimetype) == (404, "text/html")
    assert 'aria-label="Pages"' in answer.text or "Sign out" in answer.text


def test_an_address_that_takes_forms_alone_is_a_page_too(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    answer = client.get("/sign-out", headers={"Accept": BROWSER_ACCEPT})
    assert (answer.status_code, answer.mimetype) == (405, "text/html")
    assert "POST" in answer.headers["Allow"]
    assert client.get("/sign-out", headers={"Accept": "application/json"}).mimetype == "application/json"


@pytest.mark.parametrize(
    "path", ["/api", "/api/nothing", "/api/v2/nothing", "/.well-known/nothing", "/sdk/nothing/at/all"]
)
def test_paths_of_the_api_answer_in_json_to_browsers_too(client: FlaskClient, path: str) -> None:
    answer = client.get(path, headers={"Accept": BROWSER_ACCEPT})
    assert (answer.status_code, answer.mimetype) == (404, "application/json")


def test_a_script_of_the_playground_gets_its_errors_as_json(client: FlaskClient) -> None:
    answer = client.post("/playground/product", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.mimetype) == (404, "application/json")


def test_only_a_development_copy_has_the_playground(client: FlaskClient, production: Flask) -> None:
    for test_client in (client, production.test_client()):
        answer = test_client.get("/playground")
        assert (answer.status_code, answer.mimetype) == (404, "text/html")
        assert "/playground" not in test_client.get("/sign-in").text


def test_a_development_copy_links_to_the_playground(
    app: Flask, client: FlaskClient, company: Company, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    credentials = {"environmentId": str(company.environment_id)}
    (tmp_path / "credentials.json").write_text(json.dumps(credentials))
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], data_dir=tmp_path))
    assert client.get("/playground").status_code == 200
    assert 'href="/playground"' in client.get("/sign-in").text


@pytest.mark.parametrize("role", ROLES)
def test_an_insufficient_role_is_rejected(app: Flask, role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    login = Login(uuid.uuid4(), uuid.uuid4(), "somebody@example.com", role, uuid.uuid4(), "Example")
    monkeypatch.setattr(guards, "current_login", lambda: login)
    if role == "member":
        with pytest.raises(InsufficientRole):
            guards.require_role()
    else:
        guards.require_role()
    guards.require_role(lambda name: name == role)
    with pytest.raises(InsufficientRole):
        guards.require_role(lambda name: name != role)


def test_the_components_are_shown_in_a_development_copy_only(client: FlaskClient, production: Flask) -> None:
    assert client.get("/components").status_code == 200
    assert production.test_client().get("/components").status_code == 404
