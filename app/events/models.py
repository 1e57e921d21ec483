"""The outbox of events, and which events an environment has subscribed to."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, DateTime, Identity, Index, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.events.rules import Consumer, EventType


class Event(Base):
    """A row of the transactional outbox: something happened that a consumer has to send on.

    It is inserted in the transaction in which it happened, and holds ids and counts only: what reviews and reports say
    is read when it is sent, so that nothing leaves that was removed meanwhile.
    """

    __tablename__ = "events"
    __table_args__ = (
        CheckConstraint(f"consumer IN {tuple(map(str, Consumer))}", name="consumer"),
        CheckConstraint(f"type IN {tuple(map(str, EventType))}", name="type"),
        Index("ix_events_consumer", "consumer", "environment_id", "id"),
    )

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    consumer: Mapped[str] = mapped_column(Text)
    type: Mapped[str] = mapped_column(Text)
    interaction_id: Mapped[uuid.UUID | None] = mapped_column()
    details: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    """Of an event without an interaction: the id of a key, or how many rows were removed of which table."""
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    leased_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """Until then a worker is sending it; only of a consumer that sends straight from the outbox."""


class EventSubscription(Base):
    """A type of event that is queued for the webhooks of an environment."""

    __tablename__ = "event_subscriptions"
    __table_args__ = (CheckConstraint(f"type IN {tuple(map(str, EventType))}", name="type"),)

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    type: Mapped[str] = mapped_column(Text, primary_key=True)
