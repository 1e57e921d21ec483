"""The table of job runs."""

from datetime import datetime

from sqlalchemy import ARRAY, BigInteger, DateTime, Double, Integer, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.core.metrics.families import JOB_BUCKETS_S

NO_DURATIONS = "{" + ",".join("0" for _ in (*JOB_BUCKETS_S, "beyond")) + "}"


class JobRun(Base):
    """The runs of a background job, by any worker."""

    __tablename__ = "job_runs"

    job: Mapped[str] = mapped_column(Text, primary_key=True)
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    succeeded_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    scheduled_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """The last start of a run that beat asked for."""
    failed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    failures: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    last_duration_s: Mapped[float | None] = mapped_column(Double)
    duration_sum_s: Mapped[float] = mapped_column(Double, server_default=text("0"))
    duration_counts: Mapped[list[int]] = mapped_column(ARRAY(BigInteger), server_default=NO_DURATIONS)
    """How many runs took so long, for each bucket of `JOB_BUCKETS_S` and beyond the last."""
    period_s: Mapped[int | None] = mapped_column(Integer)
    """The period of the schedule, as the last worker or beat that started has it."""
    planned_since: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """When the job was first in the schedule: one that never ran is late from then on."""
