"""Failed attempts to sign in are in the audit log, and cannot fill it."""

import json
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from app.accounts.models import AuditEntry
from app.accounts.rules import MAX_RECORDED_FAILURES
from app.core.database import session, transaction
from tests.accounts.fixtures import Wait
from tests.factories import Company, create_company, sign_in

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def entries() -> list[AuditEntry]:
    with transaction():
        statement = select(AuditEntry).where(AuditEntry.action == "sign_in.failed").order_by(AuditEntry.id)
        return list(session().scalars(statement))


def fail(app: Flask, company: Company, address: str = "203.0.113.66", **changed: Any) -> int:
    answer = sign_in(
        app.test_client(),
        company,
        json={"password": "a guess", **changed},
        headers={"User-Agent": FIREFOX},
        environ_base={"REMOTE_ADDR": address},
    )
    return answer.status_code


def test_a_failed_attempt_is_an_entry_of_the_users_workspace(app: Flask, company: Company) -> None:
    with transaction():
        create_company()
    assert fail(app, company) == 401
    (entry,) = entries()
    assert (entry.workspace_id, entry.actor) == (company.workspace_id, "unauthenticated client")
    assert entry.details == {"reason": "wrong password", "browser": "firefox", "network": "203.0.113.0/24"}
    written = f"{entry.actor} {entry.subject} {json.dumps(entry.details)}"
    for text in (company.email, "a guess", "203.0.113.66"):
        assert text not in written


def test_a_successful_attempt_is_none(client: FlaskClient, company: Company) -> None:
    assert sign_in(client, company).status_code == 200
    assert entries() == []


def test_an_unknown_email_address_belongs_to_no_workspace(app: Flask, company: Company) -> None:
    assert fail(app, company, email="nobody@example.com") == 401
    assert entries() == []


def test_a_throttled_attempt_adds_nothing(app: Flask, company: Company, wait: Wait) -> None:
    statuses = [fail(app, company) for _ in range(10)]
    assert len(entries()) == statuses.count(401) < 10


def test_an_attacker_with_many_addresses_cannot_fill_the_log(app: Flask, company: Company, wait: Wait) -> None:
    for day in (1, 2):
        for number in range(MAX_RECORDED_FAILURES + 10):
            assert fail(app, company, f"198.51.{number}.7") == 401
        assert len(entries()) == day * MAX_RECORDED_FAILURES
        assert entries()[-1].details["further"] == "not recorded today"
        assert "further" not in entries()[-2].details
        wait(days=1)


def test_the_entries_of_one_user_leave_those_of_another(app: Flask, company: Company, wait: Wait) -> None:
    with transaction():
        other = create_company()
    for number in range(MAX_RECORDED_FAILURES + 1):
        fail(app, company, f"198.51.{number}.7")
    fail(app, other)
    assert [entry.workspace_id for entry in entries()].count(other.workspace_id) == 1
