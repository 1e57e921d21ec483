"""The bodies of webhooks, made of what is stored at the moment of sending: what was removed never leaves."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from app.events.rules import EventType
from app.interactions.queries import InteractionKey, InteractionSummary, list_summaries
from app.outcomes.queries import ReviewRow, list_reviews
from app.reports.queries import ReportRow, list_reports
from app.webhooks.rules import Message

Data = dict[str, Any]


class StoredRows(NamedTuple):
    """The rows that a batch of webhooks is about."""

    interactions: dict[InteractionKey, InteractionSummary]
    reviews: dict[InteractionKey, ReviewRow]
    reports: dict[InteractionKey, ReportRow]


def read_rows(messages: Iterable[Message]) -> StoredRows:
    """Read what webhooks are about, with one statement a table."""
    keys: dict[str, list[InteractionKey]] = {}
    for message in messages:
        keys.setdefault(message.type, []).extend((message.environment_id, id_) for id_ in message.interaction_ids)
    every_key = [key for type_keys in keys.values() for key in type_keys]
    review_keys, report_keys = keys.get(EventType.REVIEW_CREATED), keys.get(EventType.REPORT_CREATED)
    return StoredRows(
        list_summaries(every_key) if every_key else {},
        list_reviews(review_keys) if review_keys else {},
        list_reports(report_keys) if report_keys else {},
    )


def build_body(message: Message, rows: StoredRows) -> bytes | None:
    """Return the body of a webhook, or None if everything that it is about was removed."""
    data = _data(message, rows)
    if data is None:
        return None
    body = {
        "type": message.type,
        "timestamp": message.occurred_at,
        "data": {"environmentId": message.environment_id, **data},
    }
    return orjson.dumps(body, option=orjson.OPT_UTC_Z)


def _data(message: Message, rows: StoredRows) -> Data | None:
    if message.type == EventType.RETENTION_PURGED:
        return {"removed": message.details}
    if not message.interaction_ids:
        return message.details
    keys = [(message.environment_id, id_) for id_ in message.interaction_ids]
    if message.type == EventType.INTERACTION_CONFIRMED:
        interactions = [_interaction(rows.interactions[key]) for key in keys if key in rows.interactions]
        return {"interactions": interactions} if interactions else None
    (key,) = keys
    interaction = rows.interactions.get(key)
    operation = {"operation": interaction.known_operation if interaction else None}
    if message.type == EventType.REVIEW_CREATED:
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
