"""Evidence, and its counts by day.

An absent value is NULL in an event and the empty text in a count, where it is part of a key. There are no foreign keys:
what belongs to a removed environment is purged with it.
"""

import uuid
from datetime import date, datetime

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Date,
    DateTime,
    Identity,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.evidence.rules import METHODS, SOURCE_KINDS


class EvidenceEvent(Base):
    """One request, as a source of the company's observed it. It has no key of a customer, session or interaction."""

    __tablename__ = "evidence_events"
    __table_args__ = (
        CheckConstraint(f"source_kind IN {SOURCE_KINDS}", name="source_kind"),
        CheckConstraint(f"method IN {METHODS}", name="method"),
        Index("ix_evidence_events_observed", "environment_id", "observed_at"),
    )

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    """Of source and event id together."""
    source_digest: Mapped[bytes] = mapped_column(LargeBinary)
    source_kind: Mapped[str] = mapped_column(Text)
    source_provider: Mapped[str] = mapped_column(Text)
    observed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    method: Mapped[str] = mapped_column(Text)
    response_status: Mapped[int] = mapped_column(SmallInteger)
    agent_token: Mapped[str | None] = mapped_column(Text)
    actor_provider: Mapped[str | None] = mapped_column(Text)
    """With the fetch class as the allowlist had it then: a later list does not tell history anew."""
    fetch_class: Mapped[str | None] = mapped_column(Text)
    network_method: Mapped[str | None] = mapped_column(Text)
    referrer_host: Mapped[str | None] = mapped_column(Text)
    referral_provider: Mapped[str | None] = mapped_column(Text)


class EvidenceChange(Base):
    """The number of added events (removed, if negative) that is not in the day counts yet. Rows are never updated."""

    __tablename__ = "evidence_changes"

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    day_on: Mapped[date] = mapped_column(Date)
    """In UTC, by observation."""
    source_kind: Mapped[str] = mapped_column(Text)
    source_provider: Mapped[str] = mapped_column(Text)
    actor_provider: Mapped[str] = mapped_column(Text)
    fetch_class: Mapped[str] = mapped_column(Text)
    network_method: Mapped[str] = mapped_column(Text)
    referral_provider: Mapped[str] = mapped_column(Text)
    events: Mapped[int] = mapped_column(Integer)


class EvidenceDay(Base):
    """The number of events of a day (UTC, by observation), without the changes that are not added yet.

    The tier is no part of it: it follows from the actor and the network method.
    """

    __tablename__ = "evidence_days"

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    day_on: Mapped[date] = mapped_column(Date, primary_key=True)
    source_kind: Mapped[str] = mapped_column(Text, primary_key=True)
    source_provider: Mapped[str] = mapped_column(Text, primary_key=True)
    actor_provider: Mapped[str] = mapped_column(Text, primary_key=True)
    fetch_class: Mapped[str] = mapped_column(Text, primary_key=True)
    network_method: Mapped[str] = mapped_column(Text, primary_key=True)
    referral_provider: Mapped[str] = mapped_column(Text, primary_key=True)
    events: Mapped[int] = mapped_column(Integer)
