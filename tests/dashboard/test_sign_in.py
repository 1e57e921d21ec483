"""Signing in and out by form."""

from urllib.parse import quote

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.accounts.rules import ACCOUNT_ADDRESS_LIMIT
from tests.accounts.fixtures import Wait
from tests.dashboard.browser import TOKEN, fields, sign_in_by_form
from tests.factories import FORM_COOKIE, SESSION_COOKIE, Company, cookie_name, sign_in


def test_a_page_redirects_to_the_sign_in_page_and_back(client: FlaskClient, company: Company) -> None:
    redirect = client.get("/?days=7")
    assert (redirect.status_code, redirect.location) == (303, "/sign-in?next=%2F%3Fdays%3D7")
    answer = sign_in_by_form(client, company, redirect.location)
    assert (answer.status_code, answer.location) == (303, "/?days=7")
    assert company.email in client.get(answer.location).text


def test_the_api_answers_unauthorized_in_json(client: FlaskClient) -> None:
    answer = client.get("/api/session")
    assert (answer.status_code, answer.mimetype) == (401, "application/json")
    assert answer.location is None


def test_the_sign_in_page_redirects_a_signed_in_user(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    assert client.get("/sign-in?next=/playground").location == "/playground"
    assert client.get("/sign-in").location == "/"


def test_a_wrong_password_shows_the_form_with_an_error_and_the_address(client: FlaskClient, company: Company) -> None:
    answer = sign_in_by_form(client, company, password="<b>wrong</b>", next="/playground")
    assert answer.status_code == 401
    assert 'role="alert"' in answer.text
    assert company.email in answer.text
    assert "wrong" not in answer.text.replace("wrong_", "")
    assert fields(answer)["next"] == "/playground"
    assert client.get("/").status_code == 303


@pytest.mark.parametrize("changed", [{"email": None}, {"password": None}, {"email": "\0"}, {"email": "x" * 300}])
def test_credentials_that_no_account_can_have_are_wrong_credentials(
    client: FlaskClient, company: Company, changed: dict[str, str | None]
) -> None:
    assert sign_in_by_form(client, company, **changed).status_code == 401


def test_form_values_are_escaped(client: FlaskClient, company: Company) -> None:
    answer = sign_in_by_form(client, company, email='"><script>alert(1)</script>', next='/"><script>')
    assert "<script>" not in answer.text


def test_too_many_attempts_show_the_wait(client: FlaskClient, company: Company, wait: Wait) -> None:
    for _ in range(ACCOUNT_ADDRESS_LIMIT.free_attempts + 1):
        assert sign_in_by_form(client, company, password="wrong").status_code == 401
    answer = sign_in_by_form(client, company)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "2")
    assert "Please wait 2 seconds" in answer.text
    wait(seconds=2)
    assert sign_in_by_form(client, company).status_code == 303


@pytest.mark.parametrize("place", ["//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example"])
def test_the_next_path_never_leads_to_another_site(client: FlaskClient, company: Company, place: str) -> None:
    path = f"/sign-in?next={quote(place)}"
    assert fields(client.get(path))["next"] == "/"
    assert sign_in_by_form(client, company, next=place).location == "/"
    assert client.get(path).location == "/"


@pytest.mark.parametrize("place", ["/sign-out", "/sign-out?a=b#c", "/sign%2Dout", "/workspace", "/nothing/here"])
def test_the_next_path_is_one_that_a_browser_can_show(client: FlaskClient, company: Company, place: str) -> None:
    path = f"/sign-in?next={quote(place)}"
    assert fields(client.get(path))["next"] == "/"
    assert sign_in_by_form(client, company, next=place).location == "/"
    assert client.get(path).location == "/"


@pytest.mark.parametrize(
    "place",
    ["/feedback?outcome=failure#x", "/sign%2Din", "/interactions/018f1f2e-7b4a-4c12-9c8d-123456789abc", "/docs"],
)
def test_a_page_of_this_service_is_shown_next(client: FlaskClient, company: Company, place: str) -> None:
    assert fields(client.get(f"/sign-in?next={quote(place)}"))["next"] == place
    assert sign_in_by_form(client, company, next=place).location == place


def test_signing_in_by_form_replaces_the_presented_session(app: Flask, client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    first_cookie = client.get_cookie(SESSION_COOKIE)
    assert first_cookie
    other_client = app.test_client()
    other_client.set_cookie(SESSION_COOKIE, first_cookie.value)
    # The form is shown to nobody who is signed in, but may have been open in another tab.
    client.delete_cookie(SESSION_COOKIE)
    form = fields(client.get("/sign-in"))
    client.set_cookie(SESSION_COOKIE, first_cookie.value)
    client.post("/sign-in", data={**form, "email": company.email, "password": company.password})
    second_cookie = client.get_cookie(SESSION_COOKIE)
    assert second_cookie
    assert second_cookie.value != first_cookie.value
    assert other_client.get("/").location == "/sign-in"


def test_signing_out_ends_the_session_on_the_server(app: Flask, client: FlaskClient, company: Company) -> None:
    sign_in_by_form(client, company)
    cookie = client.get_cookie(SESSION_COOKIE)
    assert cookie
    answer = client.post("/sign-out", data=fields(client.get("/")))
    assert (answer.status_code, answer.location) == (303, "/sign-in")
    assert client.get_cookie(SESSION_COOKIE) is None
    client.set_cookie(SESSION_COOKIE, cookie.value)
    assert client.get("/").location == "/sign-in"


def test_signing_out_requires_a_form(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    assert client.get("/sign-out").status_code == 405
    assert client.post("/sign-out").status_code == 403
    assert client.get("/").status_code == 200


def test_the_cookie_of_forms_has_the_attributes_of_the_session_cookie(client: FlaskClient, production: Flask) -> None:
    in_development = client.get("/sign-in").headers["Set-Cookie"]
    assert in_development.startswith(f"{FORM_COOKIE}=")
    in_production = production.test_client().get("/sign-in").headers["Set-Cookie"]
    assert in_production.startswith(f"__Host-{cookie_name('form', 'https://feedback.example')}=")
    for cookie, is_secure in ((in_development, False), (in_production, True)):
        assert {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=3600"} <= set(cookie.split("; "))
        assert ("Secure" in cookie) is is_secure
        assert TOKEN not in cookie
