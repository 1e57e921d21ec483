"""Decisions and outcomes. They are kept, so that a retry always gets the same response."""

import uuid
from datetime import datetime

from sqlalchemy import ARRAY, CheckConstraint, DateTime, Index, Text, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.customers.rules import PURPOSES
from app.personalization.rules import OUTCOMES


class PersonalizationDecision(Base):
    """A company's decision from the signals of one retrieval."""

    __tablename__ = "personalization_decisions"
    __table_args__ = (
        CheckConstraint(f"purpose IN {PURPOSES}", name="purpose"),
        Index("ix_personalization_decisions_id", "product_id", "id", unique=True),
        Index("ix_personalization_decisions_created", "product_id", "created_at"),
        Index("ix_personalization_decisions_customer_created", "product_id", "customer_id", "created_at"),
    )

    product_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    external_id: Mapped[str] = mapped_column(Text, primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column()
    retrieval_id: Mapped[uuid.UUID] = mapped_column()
    customer_id: Mapped[uuid.UUID | None] = mapped_column()
    purpose: Mapped[str] = mapped_column(Text)
    signal_ids: Mapped[list[uuid.UUID]] = mapped_column(ARRAY(Uuid))
    variant: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class PersonalizationOutcome(Base):
    """The outcome of a decision."""

    __tablename__ = "personalization_outcomes"
    __table_args__ = (
        CheckConstraint(f"outcome IN {OUTCOMES}", name="outcome"),
        Index("ix_personalization_outcomes_created", "product_id", "created_at"),
        Index("ix_personalization_outcomes_decision", "product_id", "decision_id"),
    )

    product_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    external_id: Mapped[str] = mapped_column(Text, primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column()
    decision_id: Mapped[uuid.UUID] = mapped_column()
    outcome: Mapped[str] = mapped_column(Text)
    occurred_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """As the company sent it, or null."""
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
