"""`flask demo seed` on a real database."""

import uuid

import pytest
from flask import Flask
from sqlalchemy import select

from app.core.database import session, transaction
from app.demo import service
from app.outcomes.models import Review
from app.products.queries import list_keys
from app.triage.models import Triage, TriageComment
from tests.context_api import Clock
from tests.demo.seeding import create_workspace, environment_ids, row_counts, seed
from tests.factories import Company


def test_two_workspaces_on_one_day_have_the_same_content(app: Flask, company: Company, clock: Clock) -> None:
    first, second = seed(app, create_workspace(company)), seed(app, create_workspace(company))
    assert first["counts"] == second["counts"]
    assert set(environment_ids(first)).isdisjoint(environment_ids(second))
    triaged = (Triage.state, Triage.changed_at, TriageComment.text)
    with transaction():
        contents = [
            session()
            .execute(
                select(Review.created_at, Review.outcome, Review.note)
                .where(Review.environment_id.in_(environment_ids(seeding)))
                .order_by(Review.created_at, Review.note)
            )
            .all()
            for seeding in (first, second)
        ]
        triages = [
            session()
            .execute(
                select(*triaged)
                .join(TriageComment, TriageComment.feedback_id == Triage.feedback_id, isouter=True)
                .where(Triage.environment_id.in_(environment_ids(seeding)))
                .order_by(Triage.changed_at)
            )
            .all()
            for seeding in (first, second)
        ]
        keys = [
            [[(key.kind, key.state, key.created_at) for key in list_keys(id_, 50)] for id_ in environment_ids(seeding)]
            for seeding in (first, second)
        ]
    assert contents[0] == contents[1]
    assert triages[0] == triages[1] != []
    assert keys[0] == keys[1]
    for keys_of_environment in keys[0]:
        times = [created_at for _, _, created_at in keys_of_environment]
        assert len(times) == len(set(times)) > 0, "keys of one instant are listed by their random ids"


def test_a_workspace_with_products_of_its_own_is_refused(app: Flask, company: Company) -> None:
    before = row_counts()
    result = app.test_cli_runner().invoke(args=["demo", "seed", "--workspace", str(company.workspace_id)])
    assert (result.exit_code, "This workspace has products already" in result.output) == (1, True)
    assert row_counts() == before


def test_a_workspace_that_does_not_exist_is_refused(app: Flask) -> None:
    result = app.test_cli_runner().invoke(args=["demo", "seed", "--workspace", str(uuid.uuid4())])
    assert (result.exit_code, result.output) == (1, "Error: There is no workspace with this id.\n")


def test_what_fails_half_way_leaves_nothing(app: Flask, company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace_id = create_workspace(company)
    before = row_counts()
    monkeypatch.setattr(service, "insert_reports", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError), transaction():
        service.seed(workspace_id)
    assert row_counts() == before
