"""Fill an empty workspace with sample data."""

import uuid
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.accounts.service import lock_workspace
from app.core import clock
from app.core.database import after_commit
from app.core.errors import Conflict
from app.demo import content
from app.demo.customers import CustomerWriter, has_context
from app.demo.deliveries import write_telemetry
from app.demo.evidence import write_evidence
from app.demo.feedback import Writer, WrittenReport, WrittenReview
from app.demo.period import Ids, Period
from app.demo.permissions import PermissionWriter
from app.demo.traffic import Traffic
from app.demo.triage import TriageWriter
from app.demo.workspace import SampleEnvironment, WorkspaceWriter, list_environments
from app.evidence import counts as evidence_counts
from app.interactions.service import promote_queued_interactions
from app.ledger import counts as ledger_counts
from app.outcomes.bulk import insert_reviews
from app.products import service as products
from app.reports.bulk import insert_reports
from app.summaries import service as summaries


class WorkspaceInUse(Conflict):
    """The workspace has products of its own."""

    code = "workspace_in_use"
    sentence = "This workspace has products already; sample data goes into a workspace without any."


@dataclass(frozen=True, slots=True)
class SeededEnvironment:
    """An environment of the sample data, and how many rows were inserted."""

    id: uuid.UUID
    name: str
    product_id: uuid.UUID
    product_name: str
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Seeding:
    """The sample data of a workspace; without counts where it was there already."""

    workspace_id: uuid.UUID
    is_new: bool
    environments: list[SeededEnvironment]


def seed(workspace_id: uuid.UUID) -> Seeding:
    """Insert a fortnight of sample data, or find it there; raise `WorkspaceInUse` if there are other products.

    All of it is one transaction. The jobs that count it run after the commit; where they do not, the workers' do.
    """
    lock_workspace(workspace_id)
    period, ids = Period.before(clock.now()), Ids(workspace_id)
    environments = list_environments(period, ids)
    if is_seeded(workspace_id):
        return Seeding(workspace_id, False, [_seeded(environment, {}) for environment in environments])
    if products.list_products(workspace_id):
        raise WorkspaceInUse
    WorkspaceWriter(period, ids, environments).write()
    triage = TriageWriter(period, ids)
    write = partial(_write_environment, period, ids, triage)
    seeding = Seeding(workspace_id, True, [_seeded(environment, write(environment)) for environment in environments])
    triage.write()
    after_commit(_run_jobs)
    return seeding


def is_seeded(workspace_id: uuid.UUID) -> bool:
    """Tell whether a workspace has the sample data, or what somebody has left of it."""
    sample_ids = {Ids(workspace_id).make("product", product.slug) for product in content.products().products}
    return any(product.id in sample_ids for product in products.list_products(workspace_id))


def _write_environment(
    period: Period, ids: Ids, triage: TriageWriter, environment: SampleEnvironment
) -> dict[str, int]:
    """Insert everything of an environment, and return the numbers of rows."""
    visits = Traffic(period, ids, environment.product, environment.content).visits()
    write_telemetry(period, environment, visits)
    reviewable_visits = PermissionWriter(period, ids, environment).write(visits)
    writer = Writer(period, ids, environment.product.slug, environment.content.name)
    reviews, reports = list(writer.reviews(reviewable_visits)), list(writer.reports(reviewable_visits))
    insert_reviews([_review_row(environment, review) for review in reviews])
    insert_reports([_report_row(environment, report) for report in reports])
    triage.add(environment, reviews, reports)
    if has_context(environment):
        CustomerWriter(period, ids, environment).write(visits)
    events = write_evidence(period, environment)
    return {"interactions": len(visits), "reviews": len(reviews), "reports": len(reports), "evidenceEvents": events}


def _run_jobs() -> None:
    """Confirm interactions and count them, as the workers would within a minute."""
    promote_queued_interactions()
    summaries.roll_up_changes()
    evidence_counts.roll_up_changes()
    ledger_counts.roll_up_changes()


def _seeded(environment: SampleEnvironment, counts: dict[str, int]) -> SeededEnvironment:
    return SeededEnvironment(
        environment.id, environment.content.name, environment.product_id, environment.product.name, counts
    )


def _review_row(environment: SampleEnvironment, review: WrittenReview) -> dict[str, Any]:
    return {
        "environment_id": environment.id,
        "interaction_id": review.visit.id,
        "id": review.id,
        "outcome": review.outcome,
        "note": review.note,
        "created_at": review.created_at,
    }


def _report_row(environment: SampleEnvironment, report: WrittenReport) -> dict[str, Any]:
    return {
        "environment_id": environment.id,
        "interaction_id": report.visit.id,
        "id": report.id,
        **report.content,
        "created_at": report.created_at,
    }
