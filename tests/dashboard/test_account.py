"""The page of one's own account: sessions and password."""

import re
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.accounts import users
from app.accounts.models import AuditEntry, LoginSession
from app.accounts.rules import ACCOUNT_ADDRESS_LIMIT
from app.core.database import session, transaction
from tests.accounts.fixtures import Wait
from tests.dashboard.browser import send
from tests.factories import Company, create_company, sign_in

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0.0.0 Safari/537.36"
NEW_PASSWORD = "correct horse battery"


def change_password(
    client: FlaskClient, old: str, new: str = NEW_PASSWORD, repeated: str | None = None
) -> TestResponse:
    return send(client, "/account/password", old_password=old, new_password=new, repeated_password=repeated or new)


def session_ids() -> set[str]:
    with transaction():
        return set(map(str, session().scalars(select(LoginSession.id))))


def actions() -> list[str]:
    with transaction():
        return list(session().scalars(select(AuditEntry.action).order_by(AuditEntry.id)))


def test_the_page_lists_the_own_sessions_and_marks_this_one(app: Flask, client: FlaskClient, company: Company) -> None:
    with transaction():
        other = create_company()
    sign_in(app.test_client(), other, environ_base={"REMOTE_ADDR": "192.0.2.1"})
    sign_in(app.test_client(), company, environ_base={"REMOTE_ADDR": "2001:db8:1:2::3"})
    sign_in(client, company, headers={"User-Agent": CHROME}, environ_base={"REMOTE_ADDR": "203.0.113.9"})
    page = client.get("/account").text
    assert "192.0.2" not in page
    rows = re.findall(r"<tr>.*?</tr>", page, re.DOTALL)[1:]
    assert len(rows) == 2
    assert ["this one" in row for row in rows] == [True, False]
    assert "chrome" in rows[0]
    assert "203.0.113.0/24" in rows[0]
    assert "2001:db8:1::/48" in rows[1]
    assert "203.0.113.9" not in page


def test_a_session_from_before_these_columns_is_shown(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    with transaction():
        session().connection().exec_driver_sql("UPDATE login_sessions SET browser = NULL, network = NULL")
    assert client.get("/account").text.count("unknown") == 2


def test_one_session_is_ended_and_the_others_stay(app: Flask, client: FlaskClient, company: Company) -> None:
    others = [app.test_client() for _ in range(2)]
    for other in others:
        sign_in(other, company)
    sign_in(client, company)
    paths = re.findall(r'action="(/account/sessions/[0-9a-f-]{36}/revoke)"', client.get("/account").text)
    assert len(paths) == 2
    assert send(client, paths[0]).location == "/account?done=session"
    assert sorted(other.get("/api/session").status_code for other in others) == [200, 401]
    assert client.get("/account?done=session").status_code == 200
    assert actions()[-1] == "session.revoked"


def test_all_other_sessions_are_ended_at_once(app: Flask, client: FlaskClient, company: Company) -> None:
    others = [app.test_client() for _ in range(2)]
    for other in others:
        sign_in(other, company)
    sign_in(client, company)
    assert send(client, "/account/sessions/revoke").location == "/account?done=sessions"
    assert [other.get("/api/session").status_code for other in others] == [401, 401]
    assert "Your other sessions have ended" in client.get("/account?done=sessions").text


def test_the_session_of_somebody_else_cannot_be_ended(app: Flask, client: FlaskClient, company: Company) -> None:
    with transaction():
        password = users.create_user(company.workspace_id, "colleague@example.com", "member").password
    sign_in(client, company)
    own = session_ids()
    victim = app.test_client()
    sign_in(victim, company, json={"email": "colleague@example.com", "password": password})
    (foreign,) = session_ids() - own
    assert send(client, f"/account/sessions/{foreign}/revoke").status_code == 404
    assert send(client, "/account/sessions/revoke").status_code == 303
    assert victim.get("/api/session").status_code == 200


def test_a_new_password_replaces_the_old_one_and_ends_the_other_sessions(
    app: Flask, client: FlaskClient, company: Company
) -> None:
    other = app.test_client()
    sign_in(other, company)
    sign_in(client, company)
    answer = change_password(client, company.password)
    assert (answer.status_code, answer.location) == (303, "/account?done=password")
    assert (client.get("/account").status_code, other.get("/api/session").status_code) == (200, 401)
    assert sign_in(app.test_client(), company).status_code == 401
    assert sign_in(app.test_client(), company, json={"password": NEW_PASSWORD}).status_code == 200
    assert actions().count("password.changed") == 1


def test_without_the_old_password_nothing_changes_and_guessing_it_is_throttled(
    app: Flask, client: FlaskClient, company: Company, wait: Wait
) -> None:
    other = app.test_client()
    sign_in(other, company)
    sign_in(client, company)
    answers = [
        change_password(client, f"a guess {number}") for number in range(ACCOUNT_ADDRESS_LIMIT.free_attempts + 2)
    ]
    assert [answer.status_code for answer in answers] == [403] * (ACCOUNT_ADDRESS_LIMIT.free_attempts + 1) + [429]
    assert "This is not your password" in answers[0].text
    assert "Please wait" in answers[-1].text
    assert other.get("/api/session").status_code == 200
    wait(minutes=1)
    assert sign_in(app.test_client(), company).status_code == 200


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        ("too short", "12 to 200 characters"),
        ("x" * 201, "12 to 200 characters"),
        ("abababababababab", "repeats too few"),
        ("my OWNER{n} password", "must not contain"),
        ("correct horse\tbattery", "no control characters"),
    ],
)
def test_a_weak_password_is_refused(client: FlaskClient, company: Company, new: str, sentence: str) -> None:
    sign_in(client, company)
    name = company.email.partition("@")[0].upper()
    answer = change_password(client, company.password, new.replace("OWNER{n}", name))
    assert answer.status_code == 422
    assert sentence in unescape(answer.text)
    assert sign_in(client, company).status_code == 200


def test_an_unchanged_and_a_mistyped_password_are_refused(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    assert "password that you have" in change_password(client, company.password, company.password).text
    assert "differ" in change_password(client, company.password, repeated=NEW_PASSWORD + "!").text


def test_no_password_is_in_an_answer(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    page = change_password(client, "the old <password>", "the new <password>", "another <password>").text
    assert not [text for text in ("the old", "the new", "another") if text in page]
