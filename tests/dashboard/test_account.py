"""The page of one's own account: sessions, password, second factor."""

import re
from html import unescape

import pyotp
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.accounts import users
from app.accounts.models import AuditEntry, LoginSession
from app.accounts.rules import ACCOUNT_ADDRESS_LIMIT
from app.core.database import session, transaction
from tests.accounts.fixtures import NOW, Wait
from tests.dashboard.browser import fields, sign_in_by_form
from tests.factories import Company, cookie_name, create_company, sign_in

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0.0.0 Safari/537.36"
NEW_PASSWORD = "correct horse battery"
PENDING_COOKIE = cookie_name("pending")


def send(client: FlaskClient, path: str, page: str = "/account", **values: str) -> TestResponse:
    """Send a form with the token of a page."""
    return client.post(path, data={"form_token": fields(client.get(page))["form_token"], **values})


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


def secret_on(page: TestResponse) -> str:
    return re.findall(r">([A-Z2-7]{32})</code>", page.text)[0]


def enable(client: FlaskClient, steps: int = 0) -> tuple[str, list[str]]:
    """Set a second factor up on its page; return the secret and the recovery codes."""
    send(client, "/account/second-factor")
    secret = secret_on(client.get("/account/second-factor"))
    code = pyotp.TOTP(secret).at(NOW, counter_offset=steps)
    page = send(client, "/account/second-factor/confirm", "/account/second-factor", code=code)
    return secret, re.findall(r"<code>([0-9a-f-]{23})</code>", page.text)


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


def test_a_second_factor_is_set_up_with_a_code_and_signed_in_with(
    app: Flask, client: FlaskClient, company: Company, wait: Wait
) -> None:
    sign_in(client, company)
    secret, recovery_codes = enable(client, -1)
    assert len(recovery_codes) == 10
    assert not [code for code in recovery_codes if code in client.get("/account/second-factor").text]
    assert secret not in client.get("/account/second-factor").text
    assert "Recovery codes left: 10" in client.get("/account").text
    visitor = app.test_client()
    answer = sign_in_by_form(visitor, company, next="/account")
    assert (answer.status_code, answer.location) == (303, "/sign-in/code")
    assert visitor.get("/").status_code == 303
    form = fields(visitor.get("/sign-in/code"))
    wrong = visitor.post("/sign-in/code", data={**form, "code": "000000"})
    assert (wrong.status_code, "wrong, too old" in wrong.text) == (401, True)
    answer = visitor.post("/sign-in/code", data={**form, "code": pyotp.TOTP(secret).at(NOW)})
    assert (answer.status_code, answer.location) == (303, "/account")
    assert visitor.get("/account").status_code == 200
    assert visitor.get_cookie(PENDING_COOKIE) is None


def test_a_code_that_is_wrong_does_not_enable_it(client: FlaskClient, company: Company, wait: Wait) -> None:
    sign_in(client, company)
    send(client, "/account/second-factor")
    page = send(client, "/account/second-factor/confirm", "/account/second-factor", code="000000")
    assert page.status_code == 403
    assert "check the clock" in page.text
    assert secret_on(page) == secret_on(client.get("/account/second-factor"))
    assert sign_in(client, company).status_code == 200


def test_the_qr_code_is_part_of_the_page_and_has_no_style(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    send(client, "/account/second-factor")
    page = client.get("/account/second-factor").text
    assert "<svg" in page
    assert "style=" not in page
    assert "<script" not in page


@pytest.mark.parametrize("proof", ["password", "code", "recovery code"])
def test_it_is_switched_off_with_the_password_or_a_code(
    client: FlaskClient, company: Company, wait: Wait, proof: str
) -> None:
    sign_in(client, company)
    secret, recovery_codes = enable(client, -1)
    proofs = {"password": company.password, "code": pyotp.TOTP(secret).at(NOW), "recovery code": recovery_codes[3]}
    page = send(client, "/account/second-factor/disable", "/account/second-factor", proof="neither")
    assert (page.status_code, "neither your password" in page.text) == (403, True)
    answer = send(client, "/account/second-factor/disable", "/account/second-factor", proof=proofs[proof])
    assert answer.location == "/account?done=second-factor"
    assert sign_in(client, company).status_code == 200
    assert actions().count("second_factor.disabled") == 1


def test_guessing_what_switches_it_off_is_throttled(client: FlaskClient, company: Company, wait: Wait) -> None:
    sign_in(client, company)
    enable(client, -1)
    statuses = [
        send(client, "/account/second-factor/disable", "/account/second-factor", proof="guess").status_code
        for _ in range(ACCOUNT_ADDRESS_LIMIT.free_attempts + 2)
    ]
    assert statuses == [403] * (ACCOUNT_ADDRESS_LIMIT.free_attempts + 1) + [429]


def test_it_is_not_replaced_while_it_is_on(client: FlaskClient, company: Company, wait: Wait) -> None:
    sign_in(client, company)
    enable(client, -1)
    assert send(client, "/account/second-factor").status_code == 409
    page = send(client, "/account/second-factor/confirm", "/account/second-factor", code="000000")
    assert (page.status_code, "<svg" in page.text) == (409, False)


def test_the_page_of_the_code_needs_the_first_step(app: Flask, client: FlaskClient, company: Company) -> None:
    assert client.get("/sign-in/code").location == "/sign-in"
    form = fields(client.get("/sign-in"))
    assert client.post("/sign-in/code", data={**form, "code": "000000"}).location == "/sign-in"
    client.set_cookie(PENDING_COOKIE, "eyJ1c2VyX2lkIjoiIn0.aaaa.bbbb")
    assert client.get("/sign-in/code").location == "/sign-in"


@pytest.mark.parametrize("change", ["minutes", "password", "factor"])
def test_a_pending_sign_in_ends_with_time_and_with_what_it_rests_on(
    app: Flask, client: FlaskClient, company: Company, wait: Wait, change: str
) -> None:
    sign_in(client, company)
    secret, _ = enable(client, -1)
    visitor = app.test_client()
    sign_in_by_form(visitor, company)
    form = fields(visitor.get("/sign-in/code"))
    if change == "minutes":
        wait(minutes=5, seconds=1)
    elif change == "password":
        with transaction():
            users.change_password(company.email)
    else:
        send(client, "/account/second-factor/disable", "/account/second-factor", proof=company.password)
    steps = 10 if change == "minutes" else 0
    answer = visitor.post("/sign-in/code", data={**form, "code": pyotp.TOTP(secret).at(NOW, counter_offset=steps)})
    assert answer.location == "/sign-in"
    assert visitor.get("/account").status_code == 303
