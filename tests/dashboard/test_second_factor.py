"""The page of one's own second factor, and the page that asks for its code."""

import re

import pyotp
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.accounts import users
from app.accounts.models import AuditEntry
from app.accounts.rules import ACCOUNT_ADDRESS_LIMIT
from app.core.database import session, transaction
from tests.accounts.fixtures import NOW, Wait
from tests.dashboard.browser import fields, send, sign_in_by_form
from tests.factories import Company, cookie_name, sign_in

PENDING_COOKIE = cookie_name("pending")


def actions() -> list[str]:
    with transaction():
        return list(session().scalars(select(AuditEntry.action).order_by(AuditEntry.id)))


def secret_on(page: TestResponse) -> str:
    return re.findall(r">([A-Z2-7]{32})</code>", page.text)[0]


def begin(client: FlaskClient, password: str) -> TestResponse:
    """Begin to set a second factor up."""
    return send(client, "/account/second-factor", password=password)


def enable(client: FlaskClient, company: Company, steps: int = 0) -> tuple[str, list[str]]:
    """Set a second factor up on its page; return the secret and the recovery codes."""
    begin(client, company.password)
    secret = secret_on(client.get("/account/second-factor"))
    code = pyotp.TOTP(secret).at(NOW, counter_offset=steps)
    page = send(client, "/account/second-factor/confirm", "/account/second-factor", code=code)
    return secret, re.findall(r"<code>([0-9a-f-]{23})</code>", page.text)


def test_a_second_factor_is_set_up_with_a_code_and_signed_in_with(
    app: Flask, client: FlaskClient, company: Company, wait: Wait
) -> None:
    sign_in(client, company)
    secret, recovery_codes = enable(client, company, -1)
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


def test_a_stolen_session_cannot_set_it_up(client: FlaskClient, company: Company, wait: Wait) -> None:
    sign_in(client, company)
    assert send(client, "/account/second-factor").status_code == 403
    answers = [begin(client, "a guess") for _ in range(ACCOUNT_ADDRESS_LIMIT.free_attempts + 1)]
    assert [answer.status_code for answer in answers] == [403] * ACCOUNT_ADDRESS_LIMIT.free_attempts + [429]
    assert "This is not your password" in answers[0].text
    assert "Please wait" in answers[-1].text
    assert 'class="qr"' not in client.get("/account/second-factor").text
    wait(minutes=1)
    assert begin(client, company.password).status_code == 303
    assert 'class="qr"' in client.get("/account/second-factor").text


def test_a_secret_that_nobody_confirms_is_of_no_use_after_ten_minutes(
    client: FlaskClient, company: Company, wait: Wait
) -> None:
    sign_in(client, company)
    begin(client, company.password)
    secret = secret_on(client.get("/account/second-factor"))
    wait(minutes=10)
    assert 'class="qr"' not in client.get("/account/second-factor").text
    code = pyotp.TOTP(secret).at(NOW, counter_offset=20)
    page = send(client, "/account/second-factor/confirm", "/account/second-factor", code=code)
    assert (page.status_code, "has taken too long" in page.text) == (403, True)
    assert sign_in(client, company).status_code == 200


def test_a_code_that_is_wrong_does_not_enable_it(client: FlaskClient, company: Company, wait: Wait) -> None:
    sign_in(client, company)
    begin(client, company.password)
    page = send(client, "/account/second-factor/confirm", "/account/second-factor", code="000000")
    assert page.status_code == 403
    assert "check the clock" in page.text
    assert secret_on(page) == secret_on(client.get("/account/second-factor"))
    assert sign_in(client, company).status_code == 200


def test_the_qr_code_is_part_of_the_page_and_has_no_style(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    begin(client, company.password)
    page = client.get("/account/second-factor").text
    assert 'class="qr"' in page
    assert "style=" not in page
    assert "<script>" not in page


@pytest.mark.parametrize("proof", ["password", "code", "recovery code"])
def test_it_is_switched_off_with_the_password_or_a_code(
    client: FlaskClient, company: Company, wait: Wait, proof: str
) -> None:
    sign_in(client, company)
    secret, recovery_codes = enable(client, company, -1)
    proofs = {"password": company.password, "code": pyotp.TOTP(secret).at(NOW), "recovery code": recovery_codes[3]}
    page = send(client, "/account/second-factor/disable", "/account/second-factor", proof="neither")
    assert (page.status_code, "neither your password" in page.text) == (403, True)
    answer = send(client, "/account/second-factor/disable", "/account/second-factor", proof=proofs[proof])
    assert answer.location == "/account?done=second-factor"
    assert sign_in(client, company).status_code == 200
    assert actions().count("second_factor.disabled") == 1


def test_guessing_what_switches_it_off_is_throttled(client: FlaskClient, company: Company, wait: Wait) -> None:
    sign_in(client, company)
    enable(client, company, -1)
    statuses = [
        send(client, "/account/second-factor/disable", "/account/second-factor", proof="guess").status_code
        for _ in range(ACCOUNT_ADDRESS_LIMIT.free_attempts + 2)
    ]
    assert statuses == [403] * (ACCOUNT_ADDRESS_LIMIT.free_attempts + 1) + [429]


def test_it_is_not_replaced_while_it_is_on(client: FlaskClient, company: Company, wait: Wait) -> None:
    sign_in(client, company)
    enable(client, company, -1)
    assert begin(client, company.password).status_code == 409
    page = send(client, "/account/second-factor/confirm", "/account/second-factor", code="000000")
    assert (page.status_code, 'class="qr"' in page.text) == (409, False)


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
    secret, _ = enable(client, company, -1)
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
