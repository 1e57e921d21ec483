"""The second factor: its codes, its recovery codes, and how it is signed in with by JSON."""

import re
import threading

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.accounts import codes, second_factor, sessions
from app.accounts.models import AuditEntry, LoginSession, SecondFactor, User
from app.accounts.rules import ACCOUNT_ADDRESS_LIMIT, CODE_LIMIT
from app.core.database import session, transaction
from tests.accounts.fixtures import Device, Wait
from tests.cli.test_commands import run
from tests.factories import Company, sign_in


def actions() -> list[str]:
    with transaction():
        return list(session().scalars(select(AuditEntry.action).order_by(AuditEntry.id)))


def codes_of(*answers: object) -> list[tuple[int, str | None]]:
    return [(answer.status_code, (answer.json or {}).get("code")) for answer in answers]  # type: ignore[attr-defined]  # responses of the test client


def test_the_password_alone_opens_no_session(client: FlaskClient, company: Company, device: Device) -> None:
    answer = sign_in(client, company)
    assert codes_of(answer) == [(401, "second_factor_required")]
    assert "Set-Cookie" not in answer.headers
    with transaction():
        assert session().scalar(select(func.count()).select_from(LoginSession)) == 0


def test_a_wrong_password_does_not_tell_that_there_is_a_second_factor(
    client: FlaskClient, company: Company, device: Device
) -> None:
    for code in (None, device.code()):
        credentials = {"password": "wrong", **({"code": code} if code else {})}
        assert codes_of(sign_in(client, company, json=credentials)) == [(401, "wrong_credentials")]


@pytest.mark.parametrize("steps", [-1, 0, 1])
def test_a_code_of_about_now_opens_a_session(
    client: FlaskClient, company: Company, device: Device, wait: Wait, steps: int
) -> None:
    wait(seconds=30)  # past the step that has confirmed the factor
    code = device.code(1 + steps)
    assert sign_in(client, company, json={"code": f"{code[:3]} {code[3:]}"}).status_code == 200
    assert client.get("/api/session").status_code == 200


@pytest.mark.parametrize("steps", [-2, 2])
def test_an_older_or_later_code_is_wrong(
    client: FlaskClient, company: Company, device: Device, wait: Wait, steps: int
) -> None:
    wait(minutes=5)
    assert codes_of(sign_in(client, company, json={"code": device.code(10 + steps)})) == [(401, "wrong_code")]


@pytest.mark.parametrize("code", ["000000x", "12345", "é" * 6, "-", "٠١٢٣٤٥"])
def test_what_is_no_code_is_wrong(client: FlaskClient, company: Company, device: Device, code: str) -> None:
    assert codes_of(sign_in(client, company, json={"code": code})) == [(401, "wrong_code")]
    assert actions()[-1] == "sign_in.failed"


def test_a_code_is_accepted_once(app: Flask, company: Company, device: Device) -> None:
    answers = [sign_in(app.test_client(), company, json={"code": device.code()}) for _ in range(2)]
    assert codes_of(*answers) == [(200, None), (401, "wrong_code")]


def test_after_a_code_no_earlier_one_is_accepted(app: Flask, company: Company, device: Device) -> None:
    answers = [sign_in(app.test_client(), company, json={"code": device.code(steps)}) for steps in (1, 0)]
    assert codes_of(*answers) == [(200, None), (401, "wrong_code")]


def test_the_code_that_has_enabled_the_factor_does_not_sign_in(
    client: FlaskClient, company: Company, device: Device
) -> None:
    assert codes_of(sign_in(client, company, json={"code": device.code(-1)})) == [(401, "wrong_code")]


@pytest.mark.parametrize("is_recovery_code", [False, True])
def test_of_two_simultaneous_attempts_with_one_code_one_succeeds(
    app: Flask, company: Company, device: Device, *, is_recovery_code: bool
) -> None:
    code, results = device.recovery_codes[0] if is_recovery_code else device.code(), []
    with transaction():
        user_id = session().scalars(select(User.id).where(User.email == company.email)).one()

    def attempt() -> None:
        with app.app_context(), transaction():
            results.append(second_factor.accept_code(user_id, code))

    with transaction():
        assert second_factor.accept_code(user_id, code)
        session().flush()
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join(0.3)
        assert results == [], "the second attempt waits for the first"
    thread.join(10)
    assert results == [False]


def test_each_recovery_code_opens_one_session(app: Flask, company: Company, device: Device) -> None:
    assert len(set(device.recovery_codes)) == codes.RECOVERY_CODE_COUNT
    for code in (device.recovery_codes[0], device.recovery_codes[1].upper().replace("-", " ")):
        assert sign_in(app.test_client(), company, json={"code": code}).status_code == 200
        assert codes_of(sign_in(app.test_client(), company, json={"code": code})) == [(401, "wrong_code")]
    assert actions().count("recovery_code.used") == 2


def test_neither_the_secret_nor_a_recovery_code_is_stored_as_it_is(app: Flask, device: Device) -> None:
    with transaction():
        row = session().connection().exec_driver_sql("SELECT f::text FROM second_factors f").scalar_one()
        factor = session().scalars(select(SecondFactor)).one()
        entries = session().scalars(select(AuditEntry)).all()
    assert len(factor.recovery_digests) == codes.RECOVERY_CODE_COUNT
    log = " ".join(f"{entry.actor} {entry.subject} {entry.details}" for entry in entries)
    for text in (device.secret, *device.recovery_codes):
        for form in (text, text.replace("-", ""), text.encode().hex(), text.replace("-", "").encode().hex()):
            assert form not in row + log


def test_guessing_codes_is_throttled_from_many_addresses(app: Flask, company: Company, device: Device) -> None:
    answers = []
    for number in range(CODE_LIMIT.free_attempts + 2):
        address = {"environ_base": {"REMOTE_ADDR": f"203.0.{number}.1"}}
        answers.append(sign_in(app.test_client(), company, json={"code": "000000"}, **address))
    assert codes_of(*answers[:-1]) == [(401, "wrong_code")] * (CODE_LIMIT.free_attempts + 1)
    assert answers[-1].status_code == 429
    # Whoever does not have the password cannot keep the owner out so.
    elsewhere = {"environ_base": {"REMOTE_ADDR": "198.51.100.7"}}
    assert codes_of(sign_in(app.test_client(), company, **elsewhere)) == [(401, "second_factor_required")]


def test_the_right_password_between_two_guesses_does_not_reset_the_counter(
    app: Flask, company: Company, device: Device
) -> None:
    statuses = []
    for _ in range(ACCOUNT_ADDRESS_LIMIT.free_attempts + 1):
        assert sign_in(app.test_client(), company).status_code == 401
        statuses.append(sign_in(app.test_client(), company, json={"code": "000000"}).status_code)
    assert statuses == [401] * (ACCOUNT_ADDRESS_LIMIT.free_attempts + 1)
    assert sign_in(app.test_client(), company).status_code == 429
    assert sign_in(app.test_client(), company, json={"code": device.code()}).status_code == 429


def test_the_first_step_of_signing_in_counts_no_failure(
    app: Flask, company: Company, device: Device, wait: Wait
) -> None:
    for number in range(ACCOUNT_ADDRESS_LIMIT.free_attempts * 2):
        wait(seconds=30)
        assert codes_of(sign_in(app.test_client(), company)) == [(401, "second_factor_required")]
        assert sign_in(app.test_client(), company, json={"code": device.code(number + 1)}).status_code == 200


def test_an_operator_resets_a_lost_factor(app: Flask, client: FlaskClient, company: Company, device: Device) -> None:
    run(app, "user", "set", company.email, "--no-second-factor")
    assert sign_in(client, company).status_code == 200
    assert actions().count("second_factor.disabled") == 1
    run(app, "user", "set", company.email, "--no-second-factor")
    assert actions().count("second_factor.disabled") == 1


def test_a_factor_without_its_confirmation_changes_nothing(client: FlaskClient, company: Company) -> None:
    token = sign_in(client, company).headers["Set-Cookie"].partition("=")[2].partition(";")[0]
    with transaction():
        login = sessions.find_login(token)
        assert login
        second_factor.begin_enrolment(login)
        assert not second_factor.accept_code(login.user_id, "000000")
    assert sign_in(client, company).status_code == 200


def test_the_uri_names_the_service_and_the_user() -> None:
    uri = codes.enrolment_uri("A" * 32, "owner@example.com", "Agent Feedback")
    assert re.match(r"otpauth://totp/Agent%20Feedback:owner%40example\.com\?", uri)
    assert "secret=" + "A" * 32 in uri
