"""Signing in and out over HTTP."""

import json
import logging
from dataclasses import replace
from typing import Any

import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from app import create_app
from app.accounts import passwords, users
from app.accounts.models import AuditEntry, LoginSession
from app.core.database import session, transaction
from config.settings import Settings
from tests.factories import SESSION_COOKIE, Company, cookie_name, sign_in

PATH = "/api/session"


def cookies(answer: Any) -> list[str]:
    return [value for value in answer.headers.getlist("Set-Cookie") if "session" in value]


def token_of(answer: Any) -> str:
    return cookies(answer)[0].partition("=")[2].partition(";")[0]


def actions() -> list[str]:
    with transaction():
        entries = session().scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    return [action for action in entries if action.startswith(("session", "password", "user"))]


def test_signing_in_with_the_password_opens_a_session(client: FlaskClient, company: Company) -> None:
    answer = sign_in(client, company)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.json == {
        "user": {"id": answer.json["user"]["id"], "email": company.email, "role": "owner"},
        "workspace": {"id": str(company.workspace_id), "name": "Example company"},
    }
    assert client.get(PATH).json == answer.json
    assert client.get(PATH).headers["Cache-Control"] == "private, no-store"


def test_the_case_of_an_email_address_does_not_matter(client: FlaskClient, company: Company) -> None:
    assert sign_in(client, company, json={"email": f" {company.email.upper()} "}).status_code == 200


def test_without_a_session_the_answer_is_unauthorized(client: FlaskClient) -> None:
    for answer in (client.get(PATH), client.delete(PATH)):
        assert (answer.status_code, answer.json["code"]) == (401, "unauthorized")


@pytest.mark.parametrize("cookie", ["", "nonsense", "A" * 43, "é" * 43, "A" * 3000])
def test_an_invalid_cookie_is_unauthorized(client: FlaskClient, company: Company, cookie: str) -> None:
    client.set_cookie(SESSION_COOKIE, cookie)
    assert client.get(PATH).status_code == 401


def test_a_session_token_is_not_accepted_as_a_bearer_token(client: FlaskClient, company: Company) -> None:
    token = token_of(sign_in(client, company))
    other_client = client.application.test_client()
    for value in (token, company.product_key, company.company_key):
        assert other_client.get(PATH, headers={"Authorization": f"Bearer {value}"}).status_code == 401


def test_a_wrong_password_and_an_unknown_address_get_the_same_answer_after_the_same_work(
    client: FlaskClient, company: Company, comparisons: list[str]
) -> None:
    wrong = sign_in(client, company, json={"password": "not the password"})
    assert len(comparisons) == 1
    unknown_answer = sign_in(client, company, json={"email": "nobody@example.com"})
    assert len(comparisons) == 2
    bodies = [{**answer.json, "requestId": None} for answer in (wrong, unknown_answer)]
    assert (wrong.status_code, unknown_answer.status_code) == (401, 401)
    assert bodies[0] == bodies[1]
    assert {name for name, _ in wrong.headers} == {name for name, _ in unknown_answer.headers}
    assert cookies(wrong) == cookies(unknown_answer) == []


def test_the_dummy_hash_has_the_parameters_of_real_hashes() -> None:
    assert not PasswordHasher().check_needs_rehash(passwords.DUMMY_HASH)
    assert not passwords.is_correct(None, "anything")


def test_a_user_without_a_workspace_cannot_sign_in(client: FlaskClient, company: Company) -> None:
    with transaction():
        for table in ("memberships", "login_sessions"):
            session().connection().exec_driver_sql(f"DELETE FROM {table}")
    answer = sign_in(client, company)
    assert (answer.status_code, answer.json["code"]) == (401, "wrong_credentials")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"email": "a@example.com"}, 422),
        ({"email": "a@example.com", "password": ""}, 422),
        ({"email": "a@example.com", "password": "x" * 201}, 422),
        ({"email": "a\0@example.com", "password": "x"}, 422),
        ({"email": 1, "password": "x"}, 422),
        ({"email": ["a@example.com"], "password": "x"}, 400),
        ({"email": "a@example.com", "password": "x", "remember": True}, 400),
    ],
)
def test_the_body_is_closed_and_may_name_an_email_address(client: FlaskClient, body: Any, status: int) -> None:
    answer = client.post(PATH, json=body)
    assert answer.status_code == status
    assert answer.json["code"] != "forbidden_content"
    assert "a@example" not in answer.text


def test_signing_in_creates_a_new_token_and_ends_the_presented_session(
    app: Flask, client: FlaskClient, company: Company
) -> None:
    first_token = token_of(sign_in(app.test_client(), company))
    client.set_cookie(SESSION_COOKIE, first_token)
    second_token = token_of(sign_in(client, company))
    assert second_token != first_token
    attacker = app.test_client()
    attacker.set_cookie(SESSION_COOKIE, first_token)
    assert attacker.get(PATH).status_code == 401
    assert client.get(PATH).status_code == 200
    assert actions() == ["session.created", "session.revoked", "session.created"]


def test_an_invalid_token_is_never_adopted(client: FlaskClient, company: Company) -> None:
    client.set_cookie(SESSION_COOKIE, "A" * 43)
    assert token_of(sign_in(client, company)) != "A" * 43


def test_signing_out_ends_the_session_on_the_server(app: Flask, client: FlaskClient, company: Company) -> None:
    token = token_of(sign_in(client, company))
    answer = client.delete(PATH)
    assert (answer.status_code, answer.data) == (204, b"")
    assert "Max-Age=0" in cookies(answer)[0]
    other_client = app.test_client()
    other_client.set_cookie(SESSION_COOKIE, token)
    assert (other_client.get(PATH).status_code, other_client.delete(PATH).status_code) == (401, 401)
    assert actions() == ["session.created", "session.revoked"]


def test_only_a_digest_is_stored(client: FlaskClient, company: Company) -> None:
    token = token_of(sign_in(client, company))
    assert len(token) == 43
    with transaction():
        row = session().scalars(select(LoginSession)).one()
        entries = session().scalars(select(AuditEntry)).all()
    assert token.encode() not in row.digest
    assert len(row.digest) == 32
    text = " ".join(f"{entry.actor} {entry.subject} {json.dumps(entry.details)}" for entry in entries)
    assert company.email not in text
    assert token not in text


def test_the_cookie_in_development(client: FlaskClient, company: Company) -> None:
    cookie = cookies(sign_in(client, company))[0]
    assert cookie.startswith(f"{SESSION_COOKIE}=")
    attributes = set(cookie.split("; ")[1:])
    assert {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"} <= attributes
    assert "Secure" not in attributes
    assert not [attribute for attribute in attributes if attribute.startswith("Domain")]


def test_the_cookie_in_production_is_bound_to_this_host_and_https(production: Flask, company: Company) -> None:
    client = production.test_client()
    answer = sign_in(client, company, base_url="https://feedback.example")
    cookie = cookies(answer)[0]
    assert cookie.startswith(f"__Host-{cookie_name('session', 'https://feedback.example')}=")
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    assert client.get(PATH, base_url="https://feedback.example").status_code == 200
    other_client = production.test_client()
    other_client.set_cookie(SESSION_COOKIE, token_of(answer), domain="feedback.example", secure=True)
    assert other_client.get(PATH, base_url="https://feedback.example").status_code == 401


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "https://feedback.example.evil.example", "http://feedback.example", "x:["],
)
def test_pages_of_other_sites_can_neither_sign_in_nor_out(production: Flask, company: Company, origin: str) -> None:
    client, base = production.test_client(), "https://feedback.example"
    answer = sign_in(client, company, base_url=base, headers={"Origin": origin})
    assert (answer.status_code, answer.json["code"]) == (403, "foreign_origin")
    assert sign_in(client, company, base_url=base).status_code == 200
    assert client.delete(PATH, base_url=base, headers={"Origin": origin}).status_code == 403
    assert client.get(PATH, base_url=base, headers={"Origin": origin}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://feedback.example", "https://app.example", "https://own.example", "https://APP.example:443"]
)
def test_pages_of_our_own_origins_can_sign_in_and_out(production: Flask, company: Company, origin: str) -> None:
    client, base = production.test_client(), "https://own.example"
    assert sign_in(client, company, base_url=base, headers={"Origin": origin}).status_code == 200
    assert client.delete(PATH, base_url=base, headers={"Origin": origin}).status_code == 204


def test_a_user_of_several_workspaces_signs_in_to_the_one_joined_first(client: FlaskClient, company: Company) -> None:
    with transaction():
        statement = (
            "WITH workspace AS (INSERT INTO workspaces VALUES (gen_random_uuid(), %s, now()) RETURNING id) "
            "INSERT INTO memberships "
            "SELECT workspace.id, users.id, 'member', now() + %s::interval FROM workspace, users"
        )
        session().connection().exec_driver_sql(statement, ("Later", "1 day"))
    assert sign_in(client, company).json["workspace"]["name"] == "Example company"
    with transaction():
        session().connection().exec_driver_sql(statement, ("Earlier", "-1 day"))
    assert client.get(PATH).json["workspace"]["name"] == "Example company"
    assert sign_in(client, company).json["workspace"]["name"] == "Earlier"


def test_no_credential_is_logged(
    client: FlaskClient, company: Company, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    token = token_of(sign_in(client, company))
    sign_in(client, company, json={"password": "not the password"})
    client.get(PATH)
    with transaction():
        password = users.change_password(company.email)
    logged = caplog.text + capfd.readouterr().err
    assert [text for text in (token, company.email, company.password, password, "not the pass") if text in logged] == []


def test_two_copies_on_one_host_share_no_cookie(
    app: Flask, client: FlaskClient, company: Company, settings: Settings
) -> None:
    other = create_app(replace(settings, feedback_url="http://127.0.0.1:8001"))
    name, _, rest = cookies(sign_in(client, company))[0].partition("=")
    token, browser = rest.partition(";")[0], other.test_client()
    browser.set_cookie(name, token)
    # The same database, so only the name of the cookie tells the copies apart.
    assert browser.get(PATH).status_code == 401
    assert sign_in(browser, company).status_code == 200
    assert browser.get(PATH).status_code == 200
    first_cookie = browser.get_cookie(name)
    assert first_cookie
    assert first_cookie.value == token
    other.extensions["database"].dispose()
