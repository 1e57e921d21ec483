"""The inbox: batches that were accepted and not yet persisted."""

import uuid
from datetime import datetime

from sqlalchemy import BigInteger, DateTime, Identity, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base


class WaitingBatch(Base):
    """One accepted batch: the validated events as JSON. A batch that cannot be persisted is parked, never lost."""

    __tablename__ = "telemetry_inbox"

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    received_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    events: Mapped[str] = mapped_column(Text)
    event_count: Mapped[int] = mapped_column(Integer)
    parked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    sdk: Mapped[str | None] = mapped_column(Text)
    sdk_version: Mapped[str | None] = mapped_column(Text)
    batch_id: Mapped[uuid.UUID | None]
    loss_report: Mapped[str | None] = mapped_column(Text)
    """What the batch reports as lost, as JSON."""
