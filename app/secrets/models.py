"""The table of replaced peppers."""

from datetime import datetime

from sqlalchemy import DateTime, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base


class ReplacedPepper(Base):
    """A pepper that was replaced by a newer one, and when, as `flask secrets rotate` saw it first."""

    __tablename__ = "replaced_peppers"

    id: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    """The id of the pepper, which tells nothing about it."""
    replaced_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
