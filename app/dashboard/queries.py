"""Reads for pages and commands: the products of a workspace, and the record of an interaction."""

import uuid
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from app.core.database import session
from app.core.errors import NotFound
from app.interactions.models import Interaction, InteractionSession
from app.interactions.rules import PENDING_OPERATION, UNCLASSIFIED, UNKNOWN_SURFACE
from app.interactions.service import find_interaction
from app.outcomes.models import Review
from app.products import service as products
from app.products.models import Environment, Product
from app.reports.models import Report

Record = dict[str, Any]

PENDING_INTERACTION: Record = {
    **dict.fromkeys(Interaction.__table__.columns.keys()),
    "surface": UNKNOWN_SURFACE,
    "operation": PENDING_OPERATION,
    "classification": UNCLASSIFIED,
}
"""The columns of an interaction that has a review or report and no row yet, which a job inserts within seconds."""


class NoSuchInteraction(NotFound):
    """Nothing is stored under this id."""

    sentence = "There is no interaction with this id in this environment."


@dataclass(frozen=True, slots=True)
class ProductWithEnvironments:
    """A product and its environments, oldest first."""

    product: Product
    environments: list[Environment]


def list_products(workspace_id: uuid.UUID) -> list[ProductWithEnvironments]:
    """Return the products of a workspace with their environments."""
    environments: defaultdict[uuid.UUID, list[Environment]] = defaultdict(list)
    for environment in products.list_environments(workspace_id=workspace_id):
        environments[environment.product_id].append(environment)
    return [
        ProductWithEnvironments(product, environments[product.id]) for product in products.list_products(workspace_id)
    ]


def get_interaction_record(environment_id: uuid.UUID, interaction_id: uuid.UUID) -> Record:
    """Return an interaction with its review and report under their wire names, or raise `NoSuchInteraction`."""
    row = find_interaction(environment_id, interaction_id)
    review = session().get(Review, (environment_id, interaction_id))
    report = session().get(Report, (environment_id, interaction_id))
    if row is None and review is None and report is None:
        raise NoSuchInteraction
    return {
        "environmentId": environment_id,
        "interactionId": interaction_id,
        **_interaction(row or PENDING_INTERACTION),
        "review": _review(review) if review else None,
        "report": _report(report) if report else None,
    }


def _interaction(row: Record) -> Record:
    return {
        "surface": row["surface"],
        "operation": row["operation"],
        "classification": row["classification"],
        "confirmationMethod": row["confirmed_by"],
        "confirmedAt": row["confirmed_at"],
        "receivedAt": row["received_at"],
        "occurredAt": row["occurred_at"],
        "statusCode": row["status_code"],
        "durationMs": row["duration_ms"],
        "customerRef": row["customer_ref"],
        "runtimeHint": row["runtime_hint"],
        "runtimeHintSource": row["runtime_hint_source"],
        "session": _session(row),
    }


def _session(row: Record) -> Record | None:
    if row["session_ref"] is None:
        return None
    key = (row["environment_id"], row["session_source"] or "", row["session_ref"], row["customer_ref"] or "")
    stored_session = session().get(InteractionSession, key)
    return {
        "sessionRef": row["session_ref"],
        "sessionSource": row["session_source"],
        "firstSeenAt": stored_session.first_seen_at if stored_session else None,
        "lastSeenAt": stored_session.last_seen_at if stored_session else None,
    }


def _review(review: Review) -> Record:
    return {"id": review.id, "outcome": review.outcome, "note": review.note, "createdAt": review.created_at}


def _report(report: Report) -> Record:
    return {
        "id": report.id,
        "summary": report.summary,
        "impact": report.impact,
        "confidence": report.confidence,
        "findings": report.findings,
        "workaround": report.workaround,
        "createdAt": report.created_at,
    }
