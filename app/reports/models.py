"""Reports."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, Double, Index, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.reports.rules import IMPACTS
from app.reports.sql import WORDS


class Report(Base):
    """What one agent found in one interaction; the first one stays."""

    __tablename__ = "reports"
    __table_args__ = (
        CheckConstraint(f"impact IN {IMPACTS}", name="impact"),
        Index("ix_reports_created", "environment_id", "created_at"),
        Index("ix_reports_id", "environment_id", "id", unique=True),
        Index(
            "ix_reports_words", text(WORDS), postgresql_using="gin", postgresql_with={"gin_pending_list_limit": "256"}
        ),
    )

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    interaction_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column()
    summary: Mapped[str] = mapped_column(Text)
    impact: Mapped[str | None] = mapped_column(Text)
    confidence: Mapped[float | None] = mapped_column(Double)
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    workaround: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
