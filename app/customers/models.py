"""Customers of a product, the references they are known by, and their choices.

There are no foreign keys: what belongs to a removed product is erased in batches, as its feedback is.
"""

import uuid
from datetime import datetime

from sqlalchemy import CheckConstraint, DateTime, Index, LargeBinary, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.customers.rules import CHOICES, KINDS, PURPOSES


class Customer(Base):
    """A customer of a product."""

    __tablename__ = "customers"
    __table_args__ = (Index("ix_customers_last_seen", "product_id", "last_seen_at"),)

    product_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    last_seen_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    """When a request last named this customer, to the day."""


class CustomerReference(Base):
    """One reference, as a keyed digest, and the customer it names."""

    __tablename__ = "customer_references"
    __table_args__ = (
        CheckConstraint(f"kind IN {KINDS}", name="kind"),
        Index("ix_customer_references_customer", "product_id", "customer_id"),
    )

    product_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(Text, primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    scope: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    """Of a user: the digest of the account; empty while none was sent."""
    pepper_id: Mapped[bytes | None] = mapped_column(LargeBinary)
    """The older of the peppers of digest and scope; null, of a reference from before this was recorded, is unknown."""
    customer_id: Mapped[uuid.UUID] = mapped_column()
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    linked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """When an anonymous reference was linked to a verified customer, which happens once."""


class CustomerChoice(Base):
    """A customer's choice about one purpose, kept longer than signals so that a refusal is not asked about again."""

    __tablename__ = "customer_choices"
    __table_args__ = (
        CheckConstraint(f"purpose IN {PURPOSES}", name="purpose"),
        CheckConstraint(f"decision IN {CHOICES}", name="decision"),
    )

    product_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    customer_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    purpose: Mapped[str] = mapped_column(Text, primary_key=True)
    decision: Mapped[str] = mapped_column(Text)
    decided_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
