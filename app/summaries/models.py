"""Day counts."""

import uuid
from datetime import date

from sqlalchemy import Date, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base


class InteractionDay(Base):
    """How many interactions an operation had on a day (UTC, by arrival), and the outcomes of their reviews."""

    __tablename__ = "interaction_days"

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    day_on: Mapped[date] = mapped_column(Date, primary_key=True)
    operation: Mapped[str] = mapped_column(Text, primary_key=True)
    surface: Mapped[str] = mapped_column(Text, primary_key=True)
    interactions: Mapped[int] = mapped_column(Integer)
    confirmed: Mapped[int] = mapped_column(Integer)
    success: Mapped[int] = mapped_column(Integer)
    partial: Mapped[int] = mapped_column(Integer)
    failure: Mapped[int] = mapped_column(Integer)
