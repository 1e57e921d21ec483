"""What is stored of a workspace and of an interaction, from every room that knows of it."""

import uuid
from dataclasses import dataclass
from typing import Any

from app.core.database import session
from app.core.errors import NotFound
from app.interactions.models import Interaction, VisitSession
from app.interactions.rules import PENDING_OPERATION, UNCLASSIFIED, UNKNOWN_SURFACE
from app.interactions.service import find_interaction
from app.outcomes.models import Review
from app.products import service as products
from app.products.models import Environment, Product
from app.reports.models import Report

Record = dict[str, Any]

AWAITED: Record = {
    **dict.fromkeys(Interaction.__table__.columns.keys()),
    "surface": UNKNOWN_SURFACE,
    "operation": PENDING_OPERATION,
    "classification": UNCLASSIFIED,
}
"""What is known of an interaction that only its review or report tells of; its placeholder is due within seconds."""


class NoSuchInteraction(NotFound):
    """Nothing is stored under this id."""

    sentence = "There is no interaction with this id in this environment."


@dataclass(frozen=True, slots=True)
class ProductWithEnvironments:
    """A product and its environments, oldest first."""

    product: Product
    environments: list[Environment]


def workspace_products(workspace_id: uuid.UUID) -> list[ProductWithEnvironments]:
    """Return the products of a workspace with their environments."""
    environments = products.list_environments(workspace_id=workspace_id)
    return [
        ProductWithEnvironments(product, [one for one in environments if one.product_id == product.id])
        for product in products.list_products(workspace_id)
    ]


def interaction_record(environment_id: uuid.UUID, interaction_id: uuid.UUID) -> Record:
    """Return all that is stored of an interaction, in the words of the wire."""
    row = find_interaction(environment_id, interaction_id)
    review = session().get(Review, (environment_id, interaction_id))
    report = session().get(Report, (environment_id, interaction_id))
    if row is None and review is None and report is None:
        raise NoSuchInteraction
    return {
        "environmentId": environment_id,
        "interactionId": interaction_id,
        **_stored(row or AWAITED),
        "review": _review(review) if review else None,
        "report": _report(report) if report else None,
    }


def _stored(row: Record) -> Record:
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
    seen = session().get(VisitSession, key)
    return {
        "sessionRef": row["session_ref"],
        "sessionSource": row["session_source"],
        "firstSeenAt": seen.first_seen_at if seen else None,
        "lastSeenAt": seen.last_seen_at if seen else None,
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
