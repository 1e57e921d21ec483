"""The summary equals a count of the stored events at every moment."""

import random
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sqlalchemy import select, text

from app.core.database import session, transaction
from app.evidence import counts
from app.evidence.models import EvidenceChange, EvidenceDay, EvidenceEvent
from app.products import service as products
from app.retention import service as retention
from tests.evidence.raw import summary_and_expectation
from tests.exactness import SEED, run_machine, run_together
from tests.factories import Company, create_company, observation, send_evidence

EVENT_KINDS: list[dict[str, Any]] = [
    {"agentToken": "GPTBot"},
    {"agentToken": "bingbot", "networkEvidence": {"method": "fastly_verified_bot"}},
    {"agentToken": "Claude-User", "referrerHost": "claude.ai"},
    {"agentToken": "PerplexityBot", "networkEvidence": {"method": "published_ip_range"}},
    {"referrerHost": "chatgpt.com"},
    {"referrerHost": "meta.ai", "agentToken": "OAI-AdsBot"},
]
SOURCES = [{"provider": "one"}, {"provider": "two", "kind": "server_log"}]


def make_event(event_id: str, days_ago: float, kind: int) -> dict[str, Any]:
    observed_at = datetime.now(UTC) - timedelta(days=days_ago)
    return observation(event_id, observedAt=observed_at.isoformat(), **EVENT_KINDS[kind])


class EvidenceMachine(RuleBasedStateMachine):
    """An environment with duplicate, late and expired evidence, roll-ups, expiry and changes of its retention."""

    app: Flask

    def __init__(self) -> None:
        super().__init__()
        with transaction():
            self.company: Company = create_company()
            products.set_environment(self.company.environment_id, evidence_retention_days=5)
        self.client = self.app.test_client()

    @rule(
        events=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=12),
        source=st.sampled_from(SOURCES),
    )
    def send(self, events: list[tuple[int, int, int]], source: dict[str, str]) -> None:
        batch = [make_event(f"event_{number:04d}", days / 2, kind) for number, days, kind in events]
        response = send_evidence(self.client, self.company, *batch, source=source).json
        assert sum(response.values()) == len(events)

    @rule(batch_size=st.sampled_from([1, 3, 1000]))
    def roll_up(self, batch_size: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("app.evidence.counts.BATCH_SIZE", batch_size)
            counts.roll_up_changes()

    @rule(batch_size=st.sampled_from([1, 1000]))
    def expire(self, batch_size: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("app.retention.service.BATCH_SIZE", batch_size)
            retention.expire_evidence()

    @rule(days=st.integers(1, 8))
    def set_retention(self, days: int) -> None:
        with transaction():
            products.set_environment(self.company.environment_id, evidence_retention_days=days)

    @invariant()
    def the_summary_is_exact(self) -> None:
        content, expected = summary_and_expectation(self.company)
        assert content == expected

    @invariant()
    def the_counts_are_those_of_all_rows(self) -> None:
        assert counted_days(self.company) == stored_days(self.company)


def counted_days(company: Company) -> dict[Any, int]:
    """Return the events by day, as the counts and the pending changes have them."""
    with transaction():
        rows = session().execute(
            text("""
                SELECT day_on, sum(events) AS events FROM (
                    SELECT environment_id, day_on, events FROM evidence_days
                    UNION ALL SELECT environment_id, day_on, events FROM evidence_changes) counted
                WHERE environment_id = :environment_id GROUP BY day_on HAVING sum(events) <> 0
            """),
            {"environment_id": company.environment_id},
        )
        return {row.day_on: row.events for row in rows}


def stored_days(company: Company) -> dict[Any, int]:
    with transaction():
        instants = session().scalars(
            select(EvidenceEvent.observed_at).where(EvidenceEvent.environment_id == company.environment_id)
        )
        days = [observed_at.astimezone(UTC).date() for observed_at in instants]
    return {day: days.count(day) for day in set(days)}


def test_the_summary_is_exact_after_every_step(app: Flask) -> None:
    EvidenceMachine.app = app
    run_machine(EvidenceMachine, max_examples=30, step_count=15)


def send_batches(app: Flask, company: Company, rng: random.Random) -> int:
    """Send batches that repeat each other's events, and return how many events were accepted."""
    client, accepted = app.test_client(), 0
    for _ in range(25):
        ids = rng.sample(range(400), 20)
        events = [make_event(f"event_{event_number:04d}", rng.uniform(0, 7), rng.randrange(6)) for event_number in ids]
        response = send_evidence(client, company, *events, source=rng.choice(SOURCES)).json
        assert sum(response.values()) == len(events)
        accepted += response["accepted"]
    return accepted


def test_the_summary_is_exact_at_every_moment(app: Flask, company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send, roll up, expire and change the retention concurrently; every summary must agree with the rows."""
    monkeypatch.setattr("app.evidence.counts.BATCH_SIZE", 7)
    monkeypatch.setattr("app.retention.service.BATCH_SIZE", 5)

    def change_retention() -> None:
        with transaction():
            products.set_environment(company.environment_id, evidence_retention_days=random.choice([2, 4, 6]))
        time.sleep(0.02)

    def read() -> None:
        content, expected = summary_and_expectation(company)
        assert content == expected

    senders = [partial(send_batches, app, company, random.Random(SEED + number)) for number in range(6)]
    jobs = [counts.roll_up_changes, counts.roll_up_changes, retention.expire_evidence, change_retention, read, read]
    assert sum(run_together(app, senders, jobs)) > 0
    content, expected = summary_and_expectation(company)
    assert content == expected
    counts.roll_up_changes()
    with transaction():
        assert session().scalars(select(EvidenceChange)).all() == []
        assert all(row.events > 0 for row in session().scalars(select(EvidenceDay)))
    assert counted_days(company) == stored_days(company)
    assert summary_and_expectation(company)[0] == content
