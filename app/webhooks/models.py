"""Endpoints of webhooks, and the log of their deliveries."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, CheckConstraint, DateTime, Index, Integer, LargeBinary, SmallInteger, Text, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.events.rules import EventType
from app.webhooks.rules import DeliveryState, DisabledReason


class WebhookEndpoint(Base):
    """A URL that the webhooks of an environment are sent to."""

    __tablename__ = "webhook_endpoints"
    __table_args__ = (CheckConstraint(f"disabled_reason IN {tuple(map(str, DisabledReason))}", name="disabled_reason"),)

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    url: Mapped[str] = mapped_column(Text)
    event_types: Mapped[list[str]] = mapped_column(ARRAY(Text))
    sealed_secret: Mapped[bytes] = mapped_column(LargeBinary)
    sealed_old_secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    """Signs as well until `old_secret_expires_at`."""
    old_secret_expires_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    failure_count: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
    """Failed attempts since the last success."""
    failing_since: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """When the first of them failed."""
    disabled_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    disabled_reason: Mapped[str | None] = mapped_column(Text)


class WebhookDelivery(Base):
    """One webhook for one endpoint, and its attempts; it holds ids and counts, and nothing that an agent wrote."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        CheckConstraint(f"state IN {tuple(map(str, DeliveryState))}", name="state"),
        CheckConstraint(f"type IN {tuple(map(str, EventType))}", name="type"),
        Index("ix_webhook_deliveries_created", "environment_id", "created_at"),
        Index(
            "ix_webhook_deliveries_due",
            "environment_id",
            "endpoint_id",
            "next_attempt_at",
            postgresql_where=text("next_attempt_at IS NOT NULL"),
        ),
        Index("ix_webhook_deliveries_expires", "expires_at", postgresql_where=text("next_attempt_at IS NOT NULL")),
        Index("ix_webhook_deliveries_id", "id"),
    )

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    endpoint_id: Mapped[uuid.UUID] = mapped_column()
    message_id: Mapped[uuid.UUID] = mapped_column()
    """The same for every endpoint, attempt and replay."""
    type: Mapped[str] = mapped_column(Text)
    interaction_ids: Mapped[list[uuid.UUID]] = mapped_column(ARRAY(Uuid))
    details: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    occurred_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    """If it was not delivered until then, it has failed."""
    state: Mapped[str] = mapped_column(Text)
    next_attempt_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """Of one that is being sent, when its lease ends; null once it is over."""
    attempts: Mapped[int] = mapped_column(SmallInteger, default=0, server_default=text("0"))
    attempted_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    status_code: Mapped[int | None] = mapped_column(SmallInteger)
    duration_ms: Mapped[int | None] = mapped_column(Integer)
    error: Mapped[str | None] = mapped_column(Text)
    """A slug; what the receiver answered is not read."""
