"""Counts of events by day, sender and what became of them. What belongs to a removed environment is purged with it."""

import uuid
from datetime import date, datetime
from typing import Any

from sqlalchemy import BigInteger, Date, DateTime, Identity, Index, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base


class LedgerBatch(Base):
    """The id of a batch that has arrived, or that was counted as refused or lost before it did."""

    __tablename__ = "ledger_batches"
    __table_args__ = (Index("ix_ledger_batches_expires", "environment_id", "expires_at"),)

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    changes: Mapped[list[dict[str, Any]] | None] = mapped_column(JSONB)
    """What was counted in its place, as the columns of a change; taken back when it arrives, and null from then on."""


class LedgerChange(Base):
    """Events that are not in the day counts yet; a negative number takes a count back. Rows are never updated."""

    __tablename__ = "ledger_changes"

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    day_on: Mapped[date] = mapped_column(Date)
    source: Mapped[str] = mapped_column(Text)
    sdk: Mapped[str] = mapped_column(Text)
    version: Mapped[str] = mapped_column(Text)
    measure: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    events: Mapped[int] = mapped_column(BigInteger)


class LedgerDay(Base):
    """The number of events of a day (UTC, by arrival), without the changes that are not added yet."""

    __tablename__ = "ledger_days"

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    day_on: Mapped[date] = mapped_column(Date, primary_key=True)
    source: Mapped[str] = mapped_column(Text, primary_key=True)
    sdk: Mapped[str] = mapped_column(Text, primary_key=True)
    version: Mapped[str] = mapped_column(Text, primary_key=True)
    measure: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    """The code of a refusal or the reason of a loss; empty for other measures."""
    events: Mapped[int] = mapped_column(BigInteger)
