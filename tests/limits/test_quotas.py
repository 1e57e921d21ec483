"""Quotas count what an environment adds on a UTC day."""

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text
from werkzeug.test import TestResponse

from app import create_app
from app.core.database import session, transaction
from app.core.database.engine import Timeouts
from app.core.limits.limiter import QuotaExceeded
from config.limits import QuotaName
from config.settings import Settings
from tests.context_api import ContextApi
from tests.factories import (
    Company,
    bearer,
    create_company,
    event,
    observation,
    send_events,
    send_evidence,
    send_review,
)
from tests.limits.conftest import START, SetLimits, Timer

DAY_S = 86_400
REPORT = {"summary": "The search found the right orders at once."}


def send_report(client: FlaskClient, token: str) -> TestResponse:
    return client.post("/api/v2/reports", json=REPORT, headers=bearer(token))


def assert_exceeded(response: TestResponse, name: str, amount: int) -> None:
    assert response.status_code == 403
    body = response.get_json()
    assert (body["code"], body["quota"]) == ("quota_exceeded", name)
    renewed_at = datetime.fromtimestamp(START - START % DAY_S + DAY_S, UTC)
    assert f"quota {name} of this environment, {amount} a day" in body["error"]
    assert f"{renewed_at:%Y-%m-%dT%H:%M:%SZ}" in body["error"]


def test_events_are_counted_one_by_one_and_a_batch_is_accepted_whole_or_not(
    client: FlaskClient, company: Company, set_limits: SetLimits, timer: Timer
) -> None:
    set_limits(events=5)
    assert send_events(client, company, *(event() for _ in range(3))).status_code == 202
    assert_exceeded(send_events(client, company, *(event() for _ in range(3))), "events", 5)
    assert send_events(client, company, event(), event()).status_code == 202
    assert_exceeded(send_events(client, company, event()), "events", 5)
    timer.now += DAY_S
    assert send_events(client, company, event()).status_code == 202


def test_a_refused_batch_uses_nothing(client: FlaskClient, company: Company, set_limits: SetLimits) -> None:
    set_limits(events=1)
    assert send_events(client, company, event(surface="fax")).status_code == 422
    assert send_events(client, company, event()).status_code == 202


def test_a_review_that_is_stored_is_answered_as_before_though_the_quota_is_used_up(
    client: FlaskClient, company: Company, set_limits: SetLimits
) -> None:
    set_limits(reviews=1)
    token = company.capability()
    first = send_review(client, token)
    assert first.status_code == 200
    assert_exceeded(send_review(client, company.capability()), "reviews", 1)
    again = send_review(client, token, outcome="failure", note="Another sentence about it.")
    assert (again.status_code, again.data) == (200, first.data)


def test_a_replay_uses_nothing(client: FlaskClient, company: Company, set_limits: SetLimits) -> None:
    set_limits(reviews=2, reports=2)
    for send in (send_review, send_report):
        tokens = [company.capability() for _ in range(3)]
        statuses = [send(client, tokens[number]).status_code for number in (0, 0, 0, 1, 0, 1, 2)]
        assert statuses == [200] * 6 + [403]


def test_a_report_that_is_stored_is_answered_as_before(
    client: FlaskClient, company: Company, set_limits: SetLimits
) -> None:
    set_limits(reports=1)
    token = company.capability()
    first = send_report(client, token)
    assert_exceeded(send_report(client, company.capability()), "reports", 1)
    assert send_report(client, token).data == first.data
    assert send_review(client, company.capability()).status_code == 200


def test_questions_are_counted_when_they_are_new(context_api: ContextApi, set_limits: SetLimits) -> None:
    set_limits(questions=1)
    interaction_id = str(uuid.uuid4())
    first = context_api.ask(interactionId=interaction_id)
    assert first.status_code == 200
    assert_exceeded(context_api.ask(), "questions", 1)
    assert context_api.ask(interactionId=interaction_id).data == first.data
    assert context_api.retrieve(userRef="somebody").status_code == 200


def test_only_new_evidence_is_counted(client: FlaskClient, company: Company, set_limits: SetLimits) -> None:
    set_limits(evidence=3)
    known = observation("event_0001")
    assert send_evidence(client, company, known).status_code == 200
    assert send_evidence(client, company, known).get_json()["duplicates"] == 1
    assert send_evidence(client, company, known, observation()).get_json()["accepted"] == 1
    assert_exceeded(send_evidence(client, company, observation(), observation()), "evidence", 3)
    assert send_evidence(client, company, observation()).status_code == 200


@pytest.mark.parametrize("name", ["events", "reviews"])
def test_one_environment_uses_nothing_of_anothers(
    client: FlaskClient, company: Company, set_limits: SetLimits, name: str
) -> None:
    set_limits(**{name: 1})
    with transaction():
        other = create_company()
    for tenant in (company, other):
        send = (
            (lambda tenant=tenant: send_events(client, tenant, event()))
            if name == "events"
            else (lambda tenant=tenant: send_review(client, tenant.capability()))
        )
        assert send().status_code in (200, 202)
        assert_exceeded(send(), name, 1)


def test_zero_is_no_quota(client: FlaskClient, company: Company, set_limits: SetLimits) -> None:
    set_limits()
    statuses = {send_events(client, company, *(event() for _ in range(100))).status_code for _ in range(3)}
    assert statuses == {202}


LOCK_WRITES = text("LOCK TABLE telemetry_inbox, reviews, reports, enrichment_requests, evidence_events IN SHARE MODE")

Send = Callable[[FlaskClient, Company], TestResponse]

SEND: dict[str, Send] = {
    "events": lambda client, company: send_events(client, company, event()),
    "reviews": lambda client, company: send_review(client, company.capability()),
    "reports": lambda client, company: send_report(client, company.capability()),
    "questions": lambda client, company: ContextApi(client, company).ask(),
    "evidence": lambda client, company: send_evidence(client, company, observation()),
}


@pytest.fixture
def short_wait_app(app: Flask, settings: Settings) -> Iterator[Flask]:
    """The same service in another process: it waits half a second for the database."""
    short_wait_app = create_app(settings, timeouts=Timeouts(statement_s=0.5, prepared_s=0.5))
    yield short_wait_app
    short_wait_app.extensions["database"].dispose()


@pytest.mark.parametrize("name", QuotaName)
def test_what_the_database_did_not_store_uses_nothing(
    client: FlaskClient,
    company: Company,
    set_limits: SetLimits,
    short_wait_app: Flask,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    send = SEND[name]
    limiter = set_limits(**{name: 2})
    monkeypatch.setitem(short_wait_app.extensions, "limiter", limiter)
    assert send(client, company).status_code in (200, 202)
    with transaction():
        session().execute(LOCK_WRITES)
        assert send(short_wait_app.test_client(), company).status_code == 503
    assert send(client, company).status_code in (200, 202)
    assert_exceeded(send(client, company), name, 2)


def test_threads_whose_blocks_fail_leave_the_quota_exact(set_limits: SetLimits) -> None:
    limiter, environment_id = set_limits(reviews=100), uuid.uuid4()

    def use(*, fails: bool) -> bool:
        try:
            with limiter.use_quota(QuotaName.REVIEWS, environment_id):
                if fails:
                    raise OSError
        except (OSError, QuotaExceeded):
            return False
        return True

    def use_often(_: int) -> int:
        return sum(use(fails=number % 2 == 0) for number in range(20))

    with ThreadPoolExecutor(8) as pool:
        stored = sum(pool.map(use_often, range(8)))
    assert stored == 80
    assert [use(fails=False) for _ in range(25)] == [True] * 20 + [False] * 5
