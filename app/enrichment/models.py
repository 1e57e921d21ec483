"""Requests for context, and the signals that answers become."""

import uuid
from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    Boolean,
    CheckConstraint,
    Date,
    DateTime,
    Double,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.customers.rules import LEVELS, PURPOSES
from app.enrichment.rules import PROVENANCES, STATES, STATUSES, SURFACES


class EnrichmentRequest(Base):
    """One interaction's request for context, with its own copy of the fields it asks for; it expires in two hours."""

    __tablename__ = "enrichment_requests"
    __table_args__ = (
        CheckConstraint(f"identity_level IN {LEVELS}", name="identity_level"),
        CheckConstraint(f"surface IN {SURFACES}", name="surface"),
        CheckConstraint(f"purpose IN {PURPOSES}", name="purpose"),
        CheckConstraint(f"state IN {STATES}", name="state"),
        CheckConstraint(f"answered_as IN {STATUSES}", name="answered_as"),
        # A handle names a request by its id alone.
        Index("ix_enrichment_requests_id", "id"),
        Index("ix_enrichment_requests_customer", "product_id", "customer_id"),
        # Partial, so that only statements that name the column take it: the planner may take it for the primary key.
        Index(
            "ix_enrichment_requests_expires",
            "environment_id",
            "expires_at",
            postgresql_where=text("expires_at IS NOT NULL"),
        ),
    )

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    interaction_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column()
    product_id: Mapped[uuid.UUID] = mapped_column()
    customer_id: Mapped[uuid.UUID | None] = mapped_column()
    identity_level: Mapped[str] = mapped_column(Text)
    key_id: Mapped[str] = mapped_column(Text)
    """The key that the request came with; its revocation ends the handle."""
    fingerprint: Mapped[bytes] = mapped_column(LargeBinary)
    """Digests of the members that a retry must repeat, in the order of `requests.REPEATED_MEMBERS`."""
    operation: Mapped[str] = mapped_column(Text)
    surface: Mapped[str] = mapped_column(Text)
    purpose: Mapped[str] = mapped_column(Text)
    remember: Mapped[bool] = mapped_column(Boolean)
    state: Mapped[str] = mapped_column(Text)
    catalog_version: Mapped[str] = mapped_column(Text)
    catalog_hash: Mapped[str] = mapped_column(Text)
    catalog: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    withheld_keys: Mapped[list[str]] = mapped_column(ARRAY(Text))
    """Fields of the catalog that may not be used for this purpose."""
    status_code: Mapped[int | None] = mapped_column(SmallInteger)
    duration_ms: Mapped[float | None] = mapped_column(Double)
    runtime_hint: Mapped[str | None] = mapped_column(Text)
    observation: Mapped[dict[str, str] | None] = mapped_column(JSONB(none_as_null=True))
    """What was observed of the call, in a coarse form: `network` and `browser`."""
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    approved_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """When its handle approved, which it can do once: only a newer handle can approve after a later refusal."""
    answered_as: Mapped[str | None] = mapped_column(Text)
    answer_fingerprint: Mapped[bytes | None] = mapped_column(LargeBinary)
    receipt: Mapped[list[dict[str, Any]] | None] = mapped_column(JSONB(none_as_null=True))
    """The signals as the agent's first answer listed them, for its retries."""


class ClosedRequest(Base):
    """The record that an interaction had a request, so that it cannot have another."""

    __tablename__ = "closed_requests"
    __table_args__ = (
        Index(
            "ix_closed_requests_closed", "environment_id", "closed_at", postgresql_where=text("closed_at IS NOT NULL")
        ),
    )

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    interaction_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    closed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class FieldDay(Base):
    """How many requests of a day (UTC) asked for a field, and were answered with it, of those that have left."""

    __tablename__ = "field_days"
    __table_args__ = (CheckConstraint(f"purpose IN {PURPOSES}", name="purpose"),)

    environment_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    day_on: Mapped[date] = mapped_column(Date, primary_key=True)
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    purpose: Mapped[str] = mapped_column(Text, primary_key=True)
    asked: Mapped[int] = mapped_column(Integer)
    answered: Mapped[int] = mapped_column(Integer)


class Signal(Base):
    """One answered field."""

    __tablename__ = "signals"
    __table_args__ = (
        CheckConstraint(f"purpose IN {PURPOSES}", name="purpose"),
        CheckConstraint(f"provenance IN {PROVENANCES}", name="provenance"),
        Index("ix_signals_customer", "product_id", "customer_id", "purpose"),
        Index("ix_signals_interaction", "environment_id", "interaction_id"),
        Index("ix_signals_expires", "environment_id", "expires_at"),
        Index("ix_signals_created", "environment_id", "created_at"),
    )

    product_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    environment_id: Mapped[uuid.UUID] = mapped_column()
    interaction_id: Mapped[uuid.UUID] = mapped_column()
    customer_id: Mapped[uuid.UUID | None] = mapped_column()
    identity_level: Mapped[str | None] = mapped_column(Text)
    """How well the customer was known when it was asked; null, of older signals, counts as verified."""
    purpose: Mapped[str] = mapped_column(Text)
    key: Mapped[str] = mapped_column(Text)
    type: Mapped[str] = mapped_column(Text)
    """The category as the product wrote it."""
    value: Mapped[str] = mapped_column(Text)
    summary: Mapped[str] = mapped_column(Text)
    provenance: Mapped[str] = mapped_column(Text)
    confidence: Mapped[float | None] = mapped_column(Double)
    remembered: Mapped[bool] = mapped_column(Boolean)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
