"""Decisions at the same instant, over real connections."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from flask import Flask
from sqlalchemy import func, select

from app.consent.models import ConsentDecision, ConsentSubject
from app.core.database import session, transaction
from app.products.rules import Mode
from tests.consent.test_consent import SUBJECT, company_in, decide


def test_fifty_simultaneous_decisions_have_one_winner(app: Flask) -> None:
    company = company_in(Mode.ASK_ONCE)
    start = threading.Barrier(50)

    def work(number: int) -> Any:
        start.wait()
        token = company.capability(subject=SUBJECT, revision=0)
        return decide(app.test_client(), token, "approved" if number % 2 else "declined").json

    with ThreadPoolExecutor(50) as pool:
        bodies = list(pool.map(work, range(50)))
    first_responses = [body for body in bodies if body["changed"]]
    assert len(first_responses) == 1
    assert {body["state"] for body in bodies} == {first_responses[0]["state"]}
    with transaction():
        assert session().scalars(select(ConsentSubject.revision)).all() == [1]
        assert session().scalar(select(func.count()).select_from(ConsentDecision)) == 1


def test_the_same_approval_sent_twice_at_once_brings_the_contract_both_times(app: Flask) -> None:
    company, start = company_in(Mode.ASK_ALWAYS), threading.Barrier(20)
    token = company.capability()

    def submit(_: int) -> Any:
        start.wait()
        return decide(app.test_client(), token, "approved").json

    with ThreadPoolExecutor(20) as pool:
        bodies = list(pool.map(submit, range(20)))
    assert sum(body["changed"] for body in bodies) == 1
    assert all(body["state"] == "feedback_ready" and body["feedback"] for body in bodies)
