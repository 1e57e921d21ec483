"""The fields that products define."""

import uuid
from datetime import datetime

from sqlalchemy import ARRAY, Boolean, DateTime, ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base


class FieldDefinition(Base):
    """A field that a product defined itself."""

    __tablename__ = "enrichment_fields"

    product_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    label: Mapped[str] = mapped_column(Text)
    type: Mapped[str] = mapped_column(Text)
    allowed_values: Mapped[list[str]] = mapped_column(ARRAY(Text))
    targeted_advertising_safe: Mapped[bool] = mapped_column(Boolean)
    operations: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    enabled: Mapped[bool] = mapped_column(Boolean)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    updated_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
