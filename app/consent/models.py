"""Tables of consent decisions.

They are kept longer than feedback: without its decision, a customer who declined would be asked again.
"""

import uuid
from datetime import datetime

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, Index, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.consent.rules import DECISIONS
from app.core.database import Base


class ConsentSubject(Base):
    """The remembered decision of one customer of an environment, under the opaque name that the SDK derived."""

    __tablename__ = "consent_subjects"
    __table_args__ = (CheckConstraint(f"decision IN {DECISIONS}", name="decision"),)

    environment_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("environments.id", ondelete="CASCADE"), primary_key=True
    )
    subject: Mapped[str] = mapped_column(Text, primary_key=True)
    decision: Mapped[str] = mapped_column(Text)
    revision: Mapped[int] = mapped_column(Integer)
    """The number of decisions so far; a capability that carries an older revision cannot change it."""
    decided_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class ConsentDecision(Base):
    """One recorded decision: the audit trail, and the state of a single use."""

    __tablename__ = "consent_decisions"
    __table_args__ = (
        CheckConstraint(f"decision IN {DECISIONS}", name="decision"),
        Index("ix_consent_decisions_decided", "environment_id", "decided_at"),
    )

    environment_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("environments.id", ondelete="CASCADE"), primary_key=True
    )
    interaction_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    subject: Mapped[str | None] = mapped_column(Text)
    decision: Mapped[str] = mapped_column(Text)
    revision: Mapped[int | None] = mapped_column(Integer)
    """Of the subject, after this decision."""
    question: Mapped[str] = mapped_column(Text)
    """The name and version of the question that was answered: `once/1`."""
    key_id: Mapped[str] = mapped_column(Text)
    decided_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
