"""Reviews."""

import uuid
from datetime import datetime

from sqlalchemy import CheckConstraint, DateTime, Index, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.outcomes.rules import OUTCOMES
from app.outcomes.sql import WORDS


class Review(Base):
    """What one agent said of one interaction; the first one stays. No foreign keys: this is a hot path."""

    __tablename__ = "reviews"
    __table_args__ = (
        CheckConstraint(f"outcome IN {OUTCOMES}", name="outcome"),
        Index("ix_reviews_created", "environment_id", "created_at"),
        Index(
            "ix_reviews_words", text(WORDS), postgresql_using="gin", postgresql_with={"gin_pending_list_limit": "256"}
        ),
    )

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    interaction_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column()
    outcome: Mapped[str] = mapped_column(Text)
    note: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
