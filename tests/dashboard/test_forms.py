"""Forms are accepted with the token of their browser only."""

import re
import uuid
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.blueprints import PAGE_MOUNTS
from tests.accounts.fixtures import Wait
from tests.dashboard.browser import TOKEN, fields, sign_in_by_form
from tests.factories import FORM_COOKIE, Company, sign_in

UNPROTECTED = {"playground"}
"""Without a session; it can change the demo workspace only."""


def is_stale(answer: Any) -> bool:
    return answer.status_code == 403 and "not valid any more" in answer.text


def test_every_form_requires_the_token(app: Flask, client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    pages = {page.blueprint.name for page in PAGE_MOUNTS} - UNPROTECTED
    form_pages = [
        (rule.rule, method)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"GET", "HEAD", "OPTIONS"}
        if rule.endpoint.partition(".")[0] in pages
    ]
    assert ("/sign-out", "POST") in form_pages
    for path, method in form_pages:
        assert is_stale(client.open(re.sub(r"<[^>]*>", str(uuid.uuid4()), path), method=method)), path


@pytest.mark.parametrize("token", [None, "", "nonsense", "é" * 43, "A" * 43])
def test_a_missing_or_invalid_token_is_rejected(client: FlaskClient, company: Company, token: str | None) -> None:
    assert is_stale(sign_in_by_form(client, company, **{TOKEN: token}))
    sign_in(client, company)
    assert is_stale(client.post("/sign-out", data={TOKEN: token} if token is not None else {}))


def test_a_token_without_its_cookie_is_rejected(app: Flask, client: FlaskClient, company: Company) -> None:
    form = fields(client.get("/sign-in"))
    values = {**form, "email": company.email, "password": company.password}
    assert is_stale(app.test_client().post("/sign-in", data=values))


def test_the_token_of_another_browser_is_rejected(app: Flask, client: FlaskClient, company: Company) -> None:
    other_token = fields(app.test_client().get("/sign-in"))[TOKEN]
    assert is_stale(sign_in_by_form(client, company, **{TOKEN: other_token}))


def test_the_token_of_another_session_is_rejected(app: Flask, client: FlaskClient, company: Company) -> None:
    other_client = app.test_client()
    sign_in(other_client, company)
    sign_in(client, company)
    other_fields = fields(other_client.get("/"))
    assert is_stale(client.post("/sign-out", data=other_fields))
    assert other_client.post("/sign-out", data=other_fields).status_code == 303


def test_the_token_from_before_signing_in_is_rejected_afterwards(client: FlaskClient, company: Company) -> None:
    old_fields = fields(client.get("/sign-in"))
    sign_in(client, company)
    assert is_stale(client.post("/sign-out", data={TOKEN: old_fields[TOKEN]}))


def test_a_cookie_with_an_invalid_signature_is_rejected(client: FlaskClient, company: Company) -> None:
    form = fields(client.get("/sign-in"))
    cookie = client.get_cookie(FORM_COOKIE)
    assert cookie
    value, _, signature = cookie.value.partition(".")
    client.set_cookie(FORM_COOKIE, f"{value[:-1]}x.{signature}")
    values = {**form, "email": company.email, "password": company.password}
    assert is_stale(client.post("/sign-in", data=values))


def test_a_form_from_before_signing_in_is_valid_for_an_hour(client: FlaskClient, company: Company, wait: Wait) -> None:
    form = {**fields(client.get("/sign-in")), "email": company.email, "password": "wrong"}
    wait(hours=1)
    assert client.post("/sign-in", data=form).status_code == 401
    wait(hours=1, seconds=1)
    assert is_stale(client.post("/sign-in", data=form))


def test_forms_in_two_tabs_are_both_valid(client: FlaskClient, company: Company) -> None:
    first, second = fields(client.get("/sign-in")), fields(client.get("/sign-in"))
    for form in (second, first):
        assert client.post("/sign-in", data={**form, "email": "a@example.com", "password": "x"}).status_code == 401


def test_a_form_of_another_site_is_rejected_by_its_origin_too(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    answer = client.post("/sign-out", data=fields(client.get("/")), headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert "another site" in answer.text


def test_a_form_beyond_the_limit_is_rejected(client: FlaskClient, company: Company) -> None:
    answer = sign_in_by_form(client, company, email="x" * 100_000)
    assert (answer.status_code, answer.mimetype) == (413, "text/html")
