"""Types of events, and the consumers of the outbox."""

import uuid
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple


class EventType(StrEnum):
    """What happened; the value is the `type` of a webhook."""

    REVIEW_CREATED = "review.created"
    REPORT_CREATED = "report.created"
    INTERACTION_CONFIRMED = "interaction.confirmed"
    KEY_REVOKED = "key.revoked"
    RETENTION_PURGED = "retention.purged"


class Consumer(StrEnum):
    """Who takes a row out of the outbox: each row has one consumer."""

    WEBHOOKS = "webhooks"
    EVALUATIONS = "evaluations"


class QueuedEvent(NamedTuple):
    """An event that was taken out of the outbox."""

    environment_id: uuid.UUID
    id: int
    type: str
    interaction_id: uuid.UUID | None
    details: dict[str, Any] | None
    created_at: datetime
