"""How long a session lasts and what ends it."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app import create_app
from app.accounts import passwords, users
from app.accounts.models import LoginSession, SignInThrottle
from app.core.database import session, transaction
from app.retention import service as retention
from config.settings import Settings
from tests.accounts.fixtures import NOW, Wait
from tests.factories import SESSION_COOKIE, Company, create_company, sign_in

PATH = "/api/session"


def status(client: FlaskClient) -> int:
    return client.get(PATH).status_code


def last_seen(client: FlaskClient) -> object:
    with transaction():
        return session().scalars(select(LoginSession.last_seen_at)).one()


def count(table: type[LoginSession] | type[SignInThrottle]) -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(table)) or 0


def execute(statement: str) -> None:
    with transaction():
        session().connection().exec_driver_sql(statement)


def test_twelve_hours_of_silence_end_a_session(client: FlaskClient, company: Company, wait: Wait) -> None:
    sign_in(client, company)
    wait(hours=12, microseconds=-1)
    assert status(client) == 200
    wait(hours=12)
    assert status(client) == 401


def test_thirty_days_end_a_session_that_is_in_use(client: FlaskClient, company: Company, wait: Wait) -> None:
    sign_in(client, company)
    for _ in range(60):
        assert status(client) == 200
        wait(hours=12, seconds=-1)
    assert status(client) == 200
    wait(minutes=1)
    assert status(client) == 401


def test_use_is_recorded_at_most_once_a_minute(client: FlaskClient, company: Company, wait: Wait) -> None:
    sign_in(client, company)
    wait(seconds=59)
    status(client)
    assert last_seen(client) == NOW
    wait(seconds=1)
    status(client)
    assert last_seen(client) != NOW


def test_use_does_not_revive_an_expired_session(client: FlaskClient, company: Company, wait: Wait) -> None:
    sign_in(client, company)
    wait(hours=12)
    assert (status(client), status(client)) == (401, 401)
    assert last_seen(client) == NOW


def test_a_revoked_session_is_rejected_by_every_process_at_once(
    app: Flask, settings: Settings, client: FlaskClient, company: Company
) -> None:
    second_app = create_app(settings)
    second_client = second_app.test_client()
    token = sign_in(client, company).headers["Set-Cookie"].partition("=")[2].partition(";")[0]
    second_client.set_cookie(SESSION_COOKIE, token)
    assert (status(client), status(second_client)) == (200, 200)
    client.delete(PATH)
    assert status(second_client) == 401
    second_app.extensions["database"].dispose()


def test_a_new_password_ends_all_sessions_of_its_user_and_of_nobody_else(app: Flask, company: Company) -> None:
    with transaction():
        other_company = create_company()
    clients, other_client = [app.test_client() for _ in range(3)], app.test_client()
    for client in clients:
        sign_in(client, company)
    sign_in(other_client, other_company)
    with transaction():
        password = users.change_password(company.email)
    assert [status(client) for client in clients] == [401, 401, 401]
    assert status(other_client) == 200
    assert sign_in(clients[0], company).status_code == 401
    assert sign_in(clients[0], company, json={"password": password}).status_code == 200


def test_signing_in_while_the_password_is_changed_fails(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare = passwords.is_correct

    def compare_and_change(stored_hash: str | None, password: str) -> bool:
        is_correct = compare(stored_hash, password)
        with transaction():
            users.change_password(company.email)
        return is_correct

    monkeypatch.setattr(passwords, "is_correct", compare_and_change)
    assert sign_in(client, company).status_code == 401
    assert count(LoginSession) == 0


def test_ending_a_membership_ends_its_sessions(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    execute("DELETE FROM memberships")
    assert (status(client), count(LoginSession)) == (401, 0)


def test_a_changed_role_applies_at_once(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    execute("UPDATE memberships SET role = 'member'")
    assert client.get(PATH).json["user"]["role"] == "member"


def test_expired_sessions_and_counters_are_deleted_in_batches_and_others_stay(
    app: Flask, company: Company, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.retention.service.BATCH_SIZE", 2)
    for _ in range(5):
        sign_in(app.test_client(), company)
    wait(hours=6)
    assert retention.expire_sign_ins().row_count == 1  # the address's counter, which is forgotten after an hour
    latest_client = app.test_client()
    sign_in(latest_client, company)
    wait(hours=6)
    first_purge = retention.expire_sign_ins(budget_s=0)
    assert (first_purge.row_count, first_purge.is_complete) == (2, False)
    assert retention.expire_sign_ins().is_complete
    assert (count(LoginSession), status(latest_client)) == (1, 200)
    wait(hours=24)
    retention.expire_sign_ins()
    assert (count(LoginSession), count(SignInThrottle)) == (0, 0)
    assert retention.expire_sign_ins().row_count == 0
