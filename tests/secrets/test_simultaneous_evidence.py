"""The same event at the same time, at processes whose rings are in another order."""

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import func, select

from app import create_app
from app.core.database import Timeouts, session, transaction
from app.evidence import service
from app.evidence.models import EvidenceEvent
from app.evidence.schemas import EvidenceBatch, EvidenceBatchSchema
from app.products.key_cache import key_cache
from tests.factories import SOURCE, Company, observation
from tests.secrets.app_secrets import rotation

THREADS, ROUNDS = 8, 10


@pytest.fixture
def apps(app: Flask) -> Iterator[list[Flask]]:
    """The app under two peppers, and another one under the same in the other order."""
    with rotation(app) as app_secrets:
        app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper])
        settings = app.extensions["settings"]
        settings = replace(settings, key_peppers=settings.key_peppers[::-1])
        timeouts = Timeouts(statement_s=60, connect_s=60, prepared_s=60)
        other_app = create_app(settings, timeouts=timeouts)
        yield [app, other_app]
        other_app.extensions["database"].dispose()


def test_an_event_that_comes_at_once_is_counted_once(apps: list[Flask], company: Company) -> None:
    key = key_cache().find(company.company_key.split("_")[2])
    assert key is not None
    start = threading.Barrier(THREADS)

    def send(number: int, batch: EvidenceBatch) -> int:
        with apps[number % 2].app_context(), transaction():
            start.wait()
            return service.accept_batch(key.environment, batch).accepted

    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(ROUNDS):
            events = [observation(f"event_{uuid.uuid4().hex}") for _ in range(20)]
            batch = EvidenceBatchSchema().load({"schemaVersion": 1, "source": SOURCE, "events": events})
            assert sum(pool.map(send, range(THREADS), [batch] * THREADS)) == len(events)
    with transaction():
        assert session().scalar(select(func.count()).select_from(EvidenceEvent)) == ROUNDS * 20
