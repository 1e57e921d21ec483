"""Interactions, sessions, and the rows that their jobs work from.

Every table leads with its environment. There are no foreign keys here: on these paths each would cost more than the
insert itself, and what belongs to a removed environment is purged with it.
"""

import uuid
from datetime import date, datetime

from sqlalchemy import BigInteger, CheckConstraint, Date, DateTime, Double, Identity, Index, Integer, SmallInteger, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.interactions.rules import CLASSIFICATIONS, METHODS, SURFACES, UNKNOWN_SURFACE


class Interaction(Base):
    """One product response that an agent may have used."""

    __tablename__ = "interactions"
    __table_args__ = (
        CheckConstraint(f"surface IN {(*SURFACES, UNKNOWN_SURFACE)}", name="surface"),
        CheckConstraint(f"classification IN {CLASSIFICATIONS}", name="classification"),
        CheckConstraint(f"confirmed_by IN {METHODS}", name="confirmed_by"),
        Index("ix_interactions_received", "environment_id", "received_at"),
        # Filling and confirming touch no indexed column; the free space lets them stay on their page.
        {"postgresql_with": {"fillfactor": "90"}},
    )

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    received_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    """When the first event or review of it arrived; retention and day counts go by this."""
    surface: Mapped[str] = mapped_column(Text)
    operation: Mapped[str] = mapped_column(Text)
    classification: Mapped[str] = mapped_column(Text)
    confirmed_by: Mapped[str | None] = mapped_column(Text)
    confirmed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    occurred_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """When the product answered, as it says; absent in a placeholder."""
    status_code: Mapped[int | None] = mapped_column(SmallInteger)
    duration_ms: Mapped[float | None] = mapped_column(Double)
    customer_ref: Mapped[str | None] = mapped_column(Text)
    runtime_hint: Mapped[str | None] = mapped_column(Text)
    runtime_hint_source: Mapped[str | None] = mapped_column(Text)
    session_ref: Mapped[str | None] = mapped_column(Text)
    session_source: Mapped[str | None] = mapped_column(Text)
    outcome: Mapped[str | None] = mapped_column(Text)
    """What its review says, once promoted; it is counted from here, and leaves with the interaction."""


class InteractionSession(Base):
    """Interactions that belong together; an absent source or customer is the empty text, so that it can be a key."""

    __tablename__ = "sessions"
    __table_args__ = (Index("ix_sessions_last_seen", "environment_id", "last_seen_at"),)

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    source: Mapped[str] = mapped_column(Text, primary_key=True)
    ref: Mapped[str] = mapped_column(Text, primary_key=True)
    customer_ref: Mapped[str] = mapped_column(Text, primary_key=True)
    first_seen_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    last_seen_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Promotion(Base):
    """A row of the transactional outbox: an interaction was confirmed. The job that promotes it removes the row."""

    __tablename__ = "promotions"

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    interaction_id: Mapped[uuid.UUID] = mapped_column()
    method: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class InteractionChange(Base):
    """What a statement has changed of the counts of a day; a job moves it into the day counts."""

    __tablename__ = "interaction_changes"

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    day_on: Mapped[date] = mapped_column(Date)
    """In UTC, by arrival."""
    operation: Mapped[str] = mapped_column(Text)
    surface: Mapped[str] = mapped_column(Text)
    interactions: Mapped[int] = mapped_column(Integer)
    confirmed: Mapped[int] = mapped_column(Integer)
    success: Mapped[int] = mapped_column(Integer)
    partial: Mapped[int] = mapped_column(Integer)
    failure: Mapped[int] = mapped_column(Integer)


class UncountedDay(Base):
    """A day whose rows an earlier release has changed. Rows are only ever inserted and claimed."""

    __tablename__ = "uncounted_days"

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    day_on: Mapped[date] = mapped_column(Date)
    """In UTC."""
