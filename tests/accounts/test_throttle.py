"""Attempts to sign in are limited, without locking other users out."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from app import create_app
from app.accounts.models import SignInThrottle
from app.accounts.rules import ACCOUNT_ADDRESS_LIMIT, ADDRESS_LIMIT, Limit
from app.core.database import session, transaction
from app.core.http import addresses
from config.settings import Settings
from tests.accounts.fixtures import Wait
from tests.factories import Company, sign_in

ATTACKER, OWNER = "203.0.113.66", "198.51.100.7"


SMALL = Limit(12, ADDRESS_LIMIT.reset_after, ADDRESS_LIMIT.max_wait_s)
"""A limit for addresses that a test reaches sooner."""


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.accounts.throttle.ADDRESS_LIMIT", SMALL)


def come_from(address: str) -> dict[str, Any]:
    return {"environ_base": {"REMOTE_ADDR": address}}


def guess(client: FlaskClient, company: Company, address: str = ATTACKER, **changed: str) -> Any:
    return sign_in(client, company, json={"password": "a guess", **changed}, **come_from(address))


def guess_until_throttled(client: FlaskClient, company: Company, **changes: str) -> Any:
    for _ in range(ACCOUNT_ADDRESS_LIMIT.free_attempts + 1):
        assert guess(client, company, **changes).status_code == 401
    return guess(client, company, **changes)


def test_after_the_free_attempts_each_failure_doubles_the_wait(
    client: FlaskClient, company: Company, wait: Wait
) -> None:
    answer = guess_until_throttled(client, company)
    assert (answer.status_code, answer.json["code"]) == (429, "too_many_attempts")
    waits = []
    for _ in range(12):
        waits.append(int(answer.headers["Retry-After"]))
        wait(seconds=waits[-1])
        assert guess(client, company).status_code == 401
        answer = guess(client, company)
    assert waits == [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]


def test_a_rejected_attempt_is_not_compared_and_does_not_prolong_the_wait(
    client: FlaskClient, company: Company, comparisons: list[str], wait: Wait
) -> None:
    guess_until_throttled(client, company)
    comparison_count = len(comparisons)
    for _ in range(5):
        answer = sign_in(client, company, **come_from(ATTACKER))
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "2")
    assert len(comparisons) == comparison_count
    wait(seconds=2)
    assert sign_in(client, company, **come_from(ATTACKER)).status_code == 200


def test_guessing_from_elsewhere_does_not_lock_the_owner_out(app: Flask, company: Company, wait: Wait) -> None:
    for number in range(24):
        guess(app.test_client(), company, f"203.0.113.{number % 8}")
        wait(seconds=30)
    owner = app.test_client()
    assert sign_in(owner, company, **come_from(OWNER)).status_code == 200
    assert owner.get("/api/session").status_code == 200


def test_an_unknown_email_address_is_throttled_like_an_existing_one(
    client: FlaskClient, company: Company, wait: Wait
) -> None:
    existing_answer = guess_until_throttled(client, company)
    unknown_answer = guess_until_throttled(client, company, email="nobody@example.com")
    assert (existing_answer.status_code, existing_answer.headers["Retry-After"]) == (
        unknown_answer.status_code,
        unknown_answer.headers["Retry-After"],
    )
    assert existing_answer.json["error"] == unknown_answer.json["error"]


def test_another_case_of_the_address_uses_the_same_counter(client: FlaskClient, company: Company, wait: Wait) -> None:
    guess_until_throttled(client, company)
    assert guess(client, company, email=company.email.upper()).status_code == 429


@pytest.mark.usefixtures("small_limit")
def test_many_accounts_from_one_address_are_throttled_too(client: FlaskClient, company: Company, wait: Wait) -> None:
    for number in range(SMALL.free_attempts + 1):
        assert guess(client, company, email=f"somebody{number}@example.com").status_code == 401
    assert guess(client, company, email="another@example.com").status_code == 429
    assert guess(client, company, OWNER, email="another@example.com").status_code == 401
    with transaction():
        counter_count = len(session().scalars(select(SignInThrottle.digest)).all())
    # A rejected attempt stores nothing, so many invented accounts do not fill the table.
    assert counter_count == (1 + 2 * (SMALL.free_attempts + 1)) + 3


def test_an_ipv6_network_is_one_client(client: FlaskClient, company: Company, wait: Wait) -> None:
    for number in range(ACCOUNT_ADDRESS_LIMIT.free_attempts + 1):
        guess(client, company, f"2001:db8:1:2::{number}")
    assert guess(client, company, "2001:db8:1:2:ffff::1").status_code == 429
    assert guess(client, company, "2001:db8:1:3::1").status_code == 401


def test_signing_in_resets_the_counter_of_the_pair(client: FlaskClient, company: Company, wait: Wait) -> None:
    for _ in range(3):
        for _ in range(ACCOUNT_ADDRESS_LIMIT.free_attempts):
            assert guess(client, company).status_code == 401
        assert sign_in(client, company, **come_from(ATTACKER)).status_code == 200


@pytest.mark.usefixtures("small_limit")
def test_signing_in_does_not_reset_the_counter_of_the_address(
    client: FlaskClient, company: Company, wait: Wait
) -> None:
    for number in range(SMALL.free_attempts):
        assert guess(client, company, email=f"somebody{number}@example.com").status_code == 401
        if number % 4 == 0:
            assert sign_in(client, company, **come_from(ATTACKER)).status_code == 200
    assert guess(client, company, email="another@example.com").status_code == 401
    assert guess(client, company, email="another@example.com").status_code == 429


def test_a_counter_is_reset_after_a_day_without_attempts(client: FlaskClient, company: Company, wait: Wait) -> None:
    guess_until_throttled(client, company)
    wait(hours=24)
    for _ in range(ACCOUNT_ADDRESS_LIMIT.free_attempts):
        assert guess(client, company).status_code == 401


def test_simultaneous_attempts_in_two_processes_are_all_counted(
    app: Flask, settings: Settings, company: Company, wait: Wait, comparisons: list[str]
) -> None:
    second_app = create_app(settings)
    start = threading.Barrier(16)

    def work(number: int) -> int:
        client = (app, second_app)[number % 2].test_client()
        start.wait()
        status: int = guess(client, company).status_code
        return status

    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(work, range(16)))
    assert sorted(statuses) == [401] * (ACCOUNT_ADDRESS_LIMIT.free_attempts + 1) + [429] * (
        15 - ACCOUNT_ADDRESS_LIMIT.free_attempts
    )
    assert len(comparisons) == ACCOUNT_ADDRESS_LIMIT.free_attempts + 1
    second_app.extensions["database"].dispose()


def test_the_table_of_counters_names_nobody(client: FlaskClient, company: Company) -> None:
    guess(client, company)
    with transaction():
        rows = session().connection().exec_driver_sql("SELECT t::text FROM sign_in_throttles t").scalars().all()
    assert len(rows) == 3
    for text in (company.email, ATTACKER, company.email.encode().hex(), ATTACKER.encode().hex()):
        assert text not in " ".join(rows)


def test_behind_a_trusted_proxy_the_address_comes_from_its_header(production: Flask, company: Company) -> None:
    client = production.test_client()

    def forwarded(address: str) -> int:
        return guess_with(client, company, {"X-Forwarded-For": address})

    assert [forwarded(ATTACKER) for _ in range(ACCOUNT_ADDRESS_LIMIT.free_attempts + 2)] == [401] * (
        ACCOUNT_ADDRESS_LIMIT.free_attempts + 1
    ) + [429]
    # What a client writes itself stands before what the proxy adds.
    assert forwarded(f"{OWNER}, {ATTACKER}") == 429
    assert forwarded(OWNER) == 401


def guess_with(client: FlaskClient, company: Company, headers: dict[str, str]) -> int:
    status: int = sign_in(client, company, json={"password": "a guess"}, headers=headers).status_code
    return status


def test_without_a_trusted_proxy_the_header_is_ignored(
    client: FlaskClient, company: Company, caplog: pytest.LogCaptureFixture, wait: Wait
) -> None:
    addresses._warn_of_proxy.cache_clear()
    statuses = [
        guess_with(client, company, {"X-Forwarded-For": f"203.0.113.{n}"})
        for n in range(ACCOUNT_ADDRESS_LIMIT.free_attempts + 2)
    ]
    assert statuses[-1] == 429
    assert caplog.text.count("AGENT_FEEDBACK_TRUSTED_PROXIES") == 1
