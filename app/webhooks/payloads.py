"""The bodies of webhooks, made of what is stored at the moment of sending: what was removed never leaves."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from app.events.rules import EventType
from app.interactions.queries import InteractionKey, InteractionSummary, list_summaries
from app.outcomes.queries import ReviewRow, list_reviews
from app.reports.queries import ReportRow, list_reports

Data = dict[str, Any]


class Subject(NamedTuple):
    """What a webhook is about, as it is stored with its delivery."""

    environment_id: uuid.UUID
    type: str
    occurred_at: datetime
    interaction_ids: Sequence[uuid.UUID]
    details: Data | None


class StoredRows(NamedTuple):
    """The rows that a batch of webhooks is about."""

    interactions: dict[InteractionKey, InteractionSummary]
    reviews: dict[InteractionKey, ReviewRow]
    reports: dict[InteractionKey, ReportRow]


def read_rows(subjects: Iterable[Subject]) -> StoredRows:
    """Read what webhooks are about, with one statement a table."""
    keys: dict[str, list[InteractionKey]] = {}
    for subject in subjects:
        keys.setdefault(subject.type, []).extend((subject.environment_id, id_) for id_ in subject.interaction_ids)
    every_key = [key for type_keys in keys.values() for key in type_keys]
    review_keys, report_keys = keys.get(EventType.REVIEW_CREATED), keys.get(EventType.REPORT_CREATED)
    return StoredRows(
        list_summaries(every_key) if every_key else {},
        list_reviews(review_keys) if review_keys else {},
        list_reports(report_keys) if report_keys else {},
    )


def build_body(subject: Subject, rows: StoredRows) -> bytes | None:
    """Return the body of a webhook, or None if everything that it is about was removed."""
    data = _data(subject, rows)
    if data is None:
        return None
    body = {
        "type": subject.type,
        "timestamp": subject.occurred_at,
        "data": {"environmentId": subject.environment_id, **data},
    }
    return orjson.dumps(body, option=orjson.OPT_UTC_Z)


def _data(subject: Subject, rows: StoredRows) -> Data | None:
    if subject.type == EventType.RETENTION_PURGED:
        return {"removed": subject.details}
    if not subject.interaction_ids:
        return subject.details
    keys = [(subject.environment_id, id_) for id_ in subject.interaction_ids]
    if subject.type == EventType.INTERACTION_CONFIRMED:
        interactions = [_interaction(rows.interactions[key]) for key in keys if key in rows.interactions]
        return {"interactions": interactions} if interactions else None
    (key,) = keys
    interaction = rows.interactions.get(key)
    operation = {"operation": interaction.known_operation if interaction else None}
    if subject.type == EventType.REVIEW_CREATED:
        review = rows.reviews.get(key)
        return _review(review) | operation if review else None
    report = rows.reports.get(key)
    return _report(report) | operation if report else None


def _interaction(interaction: InteractionSummary) -> Data:
    return {
        "interactionId": interaction.id,
        "operation": interaction.known_operation,
        "surface": interaction.surface,
        "statusCode": interaction.status_code,
        "durationMs": interaction.duration_ms,
        "occurredAt": interaction.occurred_at,
        "confirmationMethod": interaction.confirmed_by,
        "confirmedAt": interaction.confirmed_at,
    }


def _review(review: ReviewRow) -> Data:
    return {
        "id": review.id,
        "interactionId": review.interaction_id,
        "outcome": review.outcome,
        "note": review.note,
        "createdAt": review.created_at,
    }


def _report(report: ReportRow) -> Data:
    return {
        "id": report.id,
        "interactionId": report.interaction_id,
        "summary": report.summary,
        "impact": report.impact,
        "confidence": report.confidence,
        "findings": report.findings,
        "workaround": report.workaround,
        "createdAt": report.created_at,
    }
