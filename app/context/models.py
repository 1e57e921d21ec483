"""Retrievals."""

import uuid
from datetime import datetime

from sqlalchemy import ARRAY, CheckConstraint, DateTime, Index, Text, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.customers.rules import PURPOSES


class ContextRetrieval(Base):
    """One retrieval of a customer's context, so that a decision can name the signals it was made from."""

    __tablename__ = "context_retrievals"
    __table_args__ = (
        CheckConstraint(f"purpose IN {PURPOSES}", name="purpose"),
        Index("ix_context_retrievals_created", "environment_id", "created_at"),
        Index("ix_context_retrievals_customer_created", "product_id", "customer_id", "created_at"),
    )

    product_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    environment_id: Mapped[uuid.UUID] = mapped_column()
    customer_id: Mapped[uuid.UUID | None] = mapped_column()
    purpose: Mapped[str] = mapped_column(Text)
    signal_ids: Mapped[list[uuid.UUID]] = mapped_column(ARRAY(Uuid))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
