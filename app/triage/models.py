"""Tables of triage. A row leaves with the review or report that it is about, whose id and instant it has."""

import uuid
from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, DateTime, Identity, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.triage.rules import KINDS, STATES


class Triage(Base):
    """The state of one review or report, and who looks after it."""

    __tablename__ = "triages"
    __table_args__ = (
        CheckConstraint(f"kind IN {KINDS}", name="kind"),
        CheckConstraint(f"state IN {STATES}", name="state"),
        Index("ix_triages_state", "environment_id", "state", "feedback_at"),
        Index("ix_triages_feedback", "environment_id", "feedback_at"),
    )

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    feedback_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    interaction_id: Mapped[uuid.UUID] = mapped_column()
    feedback_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    """When the review or report was stored; retention goes by this."""
    state: Mapped[str] = mapped_column(Text)
    assignee_id: Mapped[uuid.UUID | None] = mapped_column()
    """A user, who may have left the workspace since."""
    changed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class TriageComment(Base):
    """What a user has written about one review or report."""

    __tablename__ = "triage_comments"
    __table_args__ = (
        Index("ix_triage_comments_feedback_id", "environment_id", "feedback_id", "id"),
        Index("ix_triage_comments_feedback", "environment_id", "feedback_at"),
    )

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    feedback_id: Mapped[uuid.UUID] = mapped_column()
    feedback_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    author_id: Mapped[uuid.UUID] = mapped_column()
    text: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
