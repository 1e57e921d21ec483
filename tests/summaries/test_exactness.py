"""The day counts with their pending changes equal a count of the stored interactions at every moment."""

import random
import time
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sqlalchemy import select, text

from app.core.database import session, transaction
from app.interactions import service as interactions
from app.interactions.models import InteractionChange
from app.products import service as products
from app.retention import service as retention
from app.summaries import service as summaries
from app.summaries.models import InteractionDay
from app.telemetry import persistence
from tests.exactness import SEED, run_machine, run_together
from tests.factories import Company, create_company, event, send_events, send_review
from tests.summaries.raw import capability, counts_and_expectation, interaction_id, send_report, store_interaction

START = datetime(2026, 6, 1, 20, tzinfo=UTC)
OPERATIONS = ("/a", "/b")
SURFACES = ("http_json", "http_html", "mcp")
OUTCOMES = ("success", "partial", "failure")

ids = st.integers(0, 11)


def store(company: Company, number: int, surface: str, operation: str) -> None:
    with transaction():
        store_interaction(company, number, surface, operation)


class InteractionMachine(RuleBasedStateMachine):
    """An environment with repeated and late events, reviews, reports and requests, all jobs, and passing time."""

    app: Flask

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr("app.core.clock.now", lambda: self.moment)
        self.moment = START
        with transaction():
            self.company: Company = create_company()
            products.set_environment(self.company.environment_id, retention_days=1)
        self.client = self.app.test_client()

    def teardown(self) -> None:
        self.patch.undo()

    @rule(
        events=st.lists(st.tuples(ids, st.sampled_from(SURFACES), st.sampled_from(OPERATIONS)), min_size=1, max_size=8),
        is_persisted=st.booleans(),
    )
    def send(self, events: list[tuple[int, str, str]], is_persisted: bool) -> None:
        batch = [
            event(interaction_id(number), surface=surface, operation=operation) for number, surface, operation in events
        ]
        assert send_events(self.client, self.company, *batch).status_code == 202
        if is_persisted:
            persistence.persist_waiting_batches()

    @rule(number=ids, outcome=st.sampled_from(OUTCOMES))
    def review(self, number: int, outcome: str) -> None:
        assert send_review(self.client, capability(self.company, number), outcome).status_code == 200

    @rule(number=ids)
    def report(self, number: int) -> None:
        assert send_report(self.client, capability(self.company, number)).status_code == 200

    @rule(number=ids, surface=st.sampled_from(SURFACES), operation=st.sampled_from(OPERATIONS))
    def request_context(self, number: int, surface: str, operation: str) -> None:
        store(self.company, number, surface, operation)

    @rule(batch_size=st.sampled_from([1, 1000]))
    def promote(self, batch_size: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("app.interactions.service.BATCH_SIZE", batch_size)
            interactions.promote_queued_interactions()

    @rule(batch_size=st.sampled_from([1, 3, 1000]))
    def roll_up(self, batch_size: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("app.summaries.service.BATCH_SIZE", batch_size)
            summaries.roll_up_changes()

    @rule(hours=st.sampled_from([1, 7, 23]), batch_size=st.sampled_from([1, 1000]))
    def expire(self, hours: int, batch_size: int) -> None:
        self.moment += timedelta(hours=hours)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("app.retention.service.BATCH_SIZE", batch_size)
            retention.expire_feedback()

    @invariant()
    def the_counts_are_exact(self) -> None:
        counted, stored = counts_and_expectation(self.company.environment_id)
        assert counted == stored

    @invariant()
    def what_a_review_has_confirmed_has_its_outcome(self) -> None:
        with transaction():
            rows = session().execute(
                text("""
                    SELECT i.outcome, r.outcome FROM interactions i JOIN reviews r
                        ON r.environment_id = i.environment_id AND r.interaction_id = i.id
                    WHERE i.confirmed_by = 'review' AND i.environment_id = :environment_id
                """),
                {"environment_id": self.company.environment_id},
            )
            assert all(counted == reviewed for counted, reviewed in rows)


def test_the_counts_are_exact_after_every_step(app: Flask) -> None:
    InteractionMachine.app = app
    run_machine(InteractionMachine, max_examples=12, step_count=25)


def send_everything(app: Flask, company: Company, rng: random.Random) -> None:
    """Send events, reviews, reports and requests for context of sixty interactions."""
    client = app.test_client()
    for _ in range(40):
        events = [
            event(interaction_id(number), surface=rng.choice(SURFACES), operation=rng.choice(OPERATIONS))
            for number in rng.sample(range(60), 6)
        ]
        assert send_events(client, company, *events).status_code == 202
        token = capability(company, rng.randrange(60))
        assert send_review(client, token, rng.choice(OUTCOMES)).status_code == 200
        if rng.random() < 0.3:
            assert send_report(client, capability(company, rng.randrange(60))).status_code == 200
        with app.app_context():
            store(company, rng.randrange(60), rng.choice(SURFACES), rng.choice(OPERATIONS))


def test_the_counts_are_exact_at_every_moment(app: Flask, company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all that writes interactions concurrently, a day each second; every reading must agree with the rows."""
    monkeypatch.setattr("app.summaries.service.BATCH_SIZE", 7)
    monkeypatch.setattr("app.interactions.service.BATCH_SIZE", 5)
    monkeypatch.setattr("app.retention.service.BATCH_SIZE", 5)
    started_at = time.monotonic()

    def now() -> datetime:
        return START + timedelta(days=time.monotonic() - started_at)

    monkeypatch.setattr("app.core.clock.now", now)
    with transaction():
        products.set_environment(company.environment_id, retention_days=1)

    def read() -> None:
        counted, stored = counts_and_expectation(company.environment_id)
        assert counted == stored

    jobs = [
        persistence.persist_waiting_batches,
        persistence.persist_waiting_batches,
        interactions.promote_queued_interactions,
        interactions.promote_queued_interactions,
        summaries.roll_up_changes,
        summaries.roll_up_changes,
        retention.expire_feedback,
        read,
        read,
    ]
    senders = [partial(send_everything, app, company, random.Random(SEED + number)) for number in range(5)]
    run_together(app, senders, jobs)
    persistence.persist_waiting_batches()
    interactions.promote_queued_interactions()
    summaries.roll_up_changes()
    read()
    with transaction():
        assert session().scalars(select(InteractionChange)).all() == []
        assert all(row.interactions > 0 for row in session().scalars(select(InteractionDay)))
